"""Whether anything that is out of sight decides what a policy does."""
