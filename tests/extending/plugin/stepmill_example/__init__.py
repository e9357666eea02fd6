"""A part of each kind for Stepmill, as a distribution of its own."""
