"""Worlds: websites generated from a specification, and the server of all of them."""
