"""Worlds drawn by a seed from the file of a family: the specification and its rows."""
