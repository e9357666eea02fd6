"""Worlds: websites made from a specification, and the server of all of them."""
