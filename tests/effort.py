"""How much the tests try: the sizes that prove a rule, and those of `make chaos`, `make adversarial`
and `make hostile`, which look for more.
"""

import os

_ROUNDS = os.environ.get("STEPMILL_CHAOS_ROUNDS")

ROUNDS = int(_ROUNDS or 2)
"""How many rounds of what is drawn at random."""

BROWSER_ROUNDS = int(_ROUNDS or 2)
"""How often a run in a real browser is killed."""

KILLS = int(os.environ.get("STEPMILL_CHAOS_KILLS") or 5)
"""How many runs over stand-ins are killed at random moments, in a folder."""

BUCKET_KILLS = KILLS // 5
"""The same, in a bucket."""

THOROUGH = ROUNDS > 4
"""There is time."""

TIMEOUT = 0 if THOROUGH else 600
"""Seconds for one test; none at all if there is time."""
