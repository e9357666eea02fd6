"""Serving: seats for clients outside, and the doors to them."""
