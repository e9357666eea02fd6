"""The specification of a made website."""
