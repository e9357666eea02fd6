"""`make chaos`, `make adversarial` and `make hostile` run every test that tries more where there is time."""

import re

from source_tree import ROOT


def test_what_grows_with_the_rounds_is_run_at_its_full_size() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    lists = dict(re.findall(r"^(CHAOS|ADVERSARIAL|HOSTILE) := (.*)$", makefile, re.MULTILINE))
    assert len(lists) == 3
    patterns = " ".join(lists.values()).split()
    run = {path for pattern in patterns for path in ROOT.glob(pattern)}
    growing = {
        path
        for path in (ROOT / "tests").rglob("test_*.py")
        if re.search(r"^from effort import ", path.read_text(encoding="utf-8"), re.MULTILINE)
    }

    assert growing
    assert growing - run == set()
