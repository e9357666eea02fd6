"""What makes a run's tables smaller and clears what nothing needs: merging shards and vacuum."""
