"""Draws worlds from a family's file and a seed: the specification and its rows."""
