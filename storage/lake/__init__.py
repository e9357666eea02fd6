"""The tables of a run: shards, commits, versions, and what a reader may rely on meanwhile."""
