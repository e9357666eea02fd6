"""The application MediaWiki: an encyclopedia with history, search, watching and moving."""
