"""What verifiers found, and what becomes of an attempt by that."""
