"""Prompts of a real run, recorded, and asked again of any server by the client of runs."""
