"""The tables that records become, in a run and as published."""
