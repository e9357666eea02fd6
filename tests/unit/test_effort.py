"""`make chaos` runs every test that tries more where there is time."""

import re

from source_tree import ROOT


def test_what_grows_with_the_rounds_is_in_make_chaos() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    [chaos] = re.findall(r"^CHAOS := (.*)$", makefile, re.MULTILINE)
    run = {path for pattern in chaos.split() for path in ROOT.glob(pattern)}
    growing = {
        path
        for path in (ROOT / "tests").rglob("test_*.py")
        if re.search(r"^from effort import ", path.read_text(encoding="utf-8"), re.MULTILINE)
    }

    assert growing
    assert growing - run == set()
