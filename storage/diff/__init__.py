"""The difference of two runs or datasets, or of two versions of one: their rows and their episodes."""
