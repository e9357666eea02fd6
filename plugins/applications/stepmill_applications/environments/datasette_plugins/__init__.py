"""Plug-ins of Datasette's, which it loads from this folder by itself."""
