"""The DevTools protocol: connections to pages and to the browser, over WebSockets, with limits that wait for people."""
