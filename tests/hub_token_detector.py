"""A detector of the Hub's tokens for `detect-secrets`, which knows none. `make secrets` loads this file."""

import re

from detect_secrets.plugins.base import RegexBasedDetector


class HubTokenDetector(RegexBasedDetector):
    """Finds what the Hub gives out: `hf_` and 34 letters and digits."""

    secret_type = "Hugging Face Hub token"  # noqa: S105 - what is looked for
    denylist = (re.compile(r"\bhf_[A-Za-z0-9]{34}\b"),)
