"""A vLLM that a run starts: its command line, its process, and the supervisor that restarts it."""
