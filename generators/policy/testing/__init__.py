"""A policy whose model replies are the teacher's, for tests and benches of everything below it."""
