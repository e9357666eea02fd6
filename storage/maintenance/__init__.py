"""Compaction: merges a run's small shards, and removes the files that nothing needs."""
