"""Seats: policies whose decisions come from a client outside."""
