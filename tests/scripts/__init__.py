"""Scripts that trajectories become, and recordings that become references, by the programs of others that make or run them."""
