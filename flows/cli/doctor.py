"""`stepmill doctor`: what this machine has and lacks, each line with its remedy."""

from collections.abc import Iterator

from flows.cli.diagnostics import Line, examine, fit
from flows.cli.parser import Arguments
from flows.terminal import answer, tell


def run(args: Arguments) -> int:
    """Carry the command out and return its exit code."""
    lines = list(examine())
    if args.json:
        answer({"fit": fit(lines), "lines": [line.model_dump(mode="json") for line in lines]})
    else:
        tell(text for line in lines for text in _shown(line))
    return 0 if fit(lines) else 1


def _shown(line: Line) -> Iterator[str]:
    yield f"{line.name:<9} {line.health.value:<8} {line.found}"
    if line.remedy:
        yield f"{'':<9} {'':<8} → {line.remedy}"
