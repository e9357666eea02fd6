"""The samples on a page of metrics in Prometheus' text format, which may be cut off."""

import math
import re
from collections.abc import Iterator

_SAMPLE = re.compile(r"^([A-Za-z_:][\w:]*)(?:\{(.*)\})?[ \t]+(\S+)(?:[ \t]+-?\d+)?$")


def read_samples(page: str) -> Iterator[tuple[str, str, float]]:
    """Yield (name, labels, value) of each whole line that is a number."""
    whole, newline, _ = page.rpartition("\n")
    for line in whole.splitlines() if newline else ():
        sample = None if line.startswith("#") else _SAMPLE.match(line.strip())
        if not sample:
            continue
        try:
            value = float(sample[3])
        except ValueError:
            continue
        if math.isfinite(value) and value >= 0:
            yield sample[1], sample[2] or "", value
