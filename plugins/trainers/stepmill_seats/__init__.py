"""Stepmill's seats for verifiers 0.4: `vf-eval stepmill-seats`, and the same in prime-rl."""

from stepmill_seats.harness import SeatsHarness
from stepmill_seats.taskset import SeatsTaskset

__all__ = ["SeatsHarness", "SeatsTaskset"]
