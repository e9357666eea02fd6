"""Stored episodes as training rows: conversations in a dialect, and expressions that refer to elements."""
