"""What a trainer does with exported traces; for the interpreter of `.venv-verifiers`, never ours.

Every line of the files named is read by the library's own record, strictly, and written back as the
library writes it, beside the branches it finds: each is one training sample.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from verifiers.v1.trace import WireTrace  # type: ignore[import-not-found]


def reread(line: str) -> dict[str, object]:
    """Return what the library makes of a line."""
    trace = WireTrace.model_validate_json(line, strict=True)
    return {
        "record": trace.to_record(float_decimals=None),
        "reward": trace.reward,
        "branches": [
            {
                "token_ids": branch.token_ids,
                "mask": branch.sampled_mask,
                "logprobs": branch.logprobs,
                "nodes": [call.node for call in branch.calls],
            }
            for branch in trace.branches
        ],
    }


def told(paths: list[str]) -> Iterator[str]:
    """Yield a line of JSON for every line of the files."""
    for path in paths:
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            yield f"{json.dumps(reread(line))}\n"


if __name__ == "__main__":
    sys.stdout.writelines(told(sys.argv[1:]))
