"""`python -m generators.engine.models tiny|holotron FOLDER`: make a checkpoint.

`tiny` has random weights. `holotron` has the sizes of Holotron-12B and no weights: serve it with
`--load-format dummy`, to see how fast a GPU is.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from generators.engine.models.checkpoint import write_checkpoint
from generators.engine.models.shape import HOLOTRON, TINY
from schemas.errors import Refusal

SEED = 0
"""Of the tiny one's weights, unless another is asked for."""


def main(arguments: Sequence[str]) -> int:
    """Write what is asked for and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m generators.engine.models",
        description="Make a checkpoint of Holotron-12B's architecture.",
        epilog="Example: python -m generators.engine.models tiny models/tiny",
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
