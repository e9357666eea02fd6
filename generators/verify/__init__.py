"""Who looks at an episode afterwards, and what all of them say together."""
