"""Collections: datasets over many runs at one place, made from pinned versions of each."""
