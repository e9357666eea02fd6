"""The site of an application that one file describes: its servers, the proxy to them, and its judge."""
