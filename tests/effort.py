"""How much the tests try: the sizes of `make test`, which prove a rule, and those of `make test-full`.

What has no small size at all is marked `full`; `make test` does not run it. Everything else shows at
its small size that it works, and looks for more at its large one.
"""

import os

THOROUGH = os.environ.get("STEPMILL_TESTS") == "full"
"""Every test runs at its large size: there is time."""

ROUNDS = 20 if THOROUGH else 1
"""How many rounds of what is drawn at random."""

BROWSER_ROUNDS = 20 if THOROUGH else 1
"""How often a run in a real browser is killed."""

KILLS = 200 if THOROUGH else 2
"""How many runs over stand-ins are killed at random moments, in a folder."""

BUCKET_KILLS = 40 if THOROUGH else 1
"""The same, in a bucket."""

TIMEOUT = 0 if THOROUGH else 300
"""Seconds for one test; none at all if there is time."""
