"""Policies, which choose actions: the teacher, its clumsy twin, a list, and models by dialect."""
