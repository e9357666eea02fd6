"""The front-end kits of worlds: a table of tags and classes for each, and what reads it."""
