"""A published dataset opened for reading, at a version of it: its files, and whole episodes."""
