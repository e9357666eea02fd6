"""A world looked through as a visitor may: every page, link and form."""
