"""How thoughts are told: plans, and remarks on what is in sight."""
