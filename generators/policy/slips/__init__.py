"""Mistakes that people make while they carry out a plan, each with a cause, and how each is seen and mended."""
