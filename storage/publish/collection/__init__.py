"""Collections: datasets of many runs at one place."""
