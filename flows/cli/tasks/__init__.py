"""`stepmill tasks`: list the tasks there are, show one, check a policy on many."""
