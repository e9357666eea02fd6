"""Runs and published datasets opened for reading: their files, whole episodes, and the look-up of many."""
