"""Crawls a world as a visitor can: every page, link and form."""
