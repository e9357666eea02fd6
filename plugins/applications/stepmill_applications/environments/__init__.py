"""Programs of the applications' own environments: what they import is there, and nothing of Stepmill's is."""
