"""Whole messages as people of a trade write them."""
