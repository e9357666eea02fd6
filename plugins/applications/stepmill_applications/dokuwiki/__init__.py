"""DokuWiki: a wiki whose pages are text files."""
