"""The tables of a run: shards, commits, versions, and the guarantees that readers have."""
