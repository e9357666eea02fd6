"""`python -m support.checkpoints tiny|holotron FOLDER`: make a checkpoint for a real server, without a download.

It is of Holotron-12B's architecture, `NemotronH_Nano_VL_V2`: a language model of Mamba-2, MLP and attention
layers behind a vision tower. `tiny` has random weights and runs on a laptop's CPU; `make engine-cpu` makes it.
`holotron` has the sizes of Holotron-12B and no weights: serve it with `--load-format dummy`, to see how fast a
GPU is. Both need `tests/` on PYTHONPATH.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from support.checkpoints.checkpoint import write_checkpoint
from support.checkpoints.shape import HOLOTRON, TINY

from schemas.errors import Refusal

SEED = 0
"""Of the tiny one's weights, unless another is asked for."""


def main(arguments: Sequence[str]) -> int:
    """Write what is asked for and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m support.checkpoints",
        description="Make a checkpoint of Holotron-12B's architecture.",
        epilog="Example: python -m support.checkpoints tiny models/tiny",
    )
    parser.add_argument(
        "model",
        choices=("tiny", "holotron"),
        help="with random weights and small, or of Holotron-12B's sizes without weights",
    )
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="where it is written")
    parser.add_argument(
        "--seed", type=int, default=SEED, help=f"of the tiny one's weights ({SEED})"
    )
    asked = parser.parse_args(arguments)
    try:
        if asked.model == "tiny":
            write_checkpoint(asked.folder, TINY, seed=asked.seed)
        else:
            write_checkpoint(asked.folder, HOLOTRON, seed=None)
    except Refusal as refusal:
        sys.stderr.write(f"{refusal}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
