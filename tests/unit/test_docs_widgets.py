"""`docs/widgets.md` says what the result of its bench says."""

import widget_figures
from columns import renewed
from source_tree import ROOT


def test_the_page_says_what_the_result_says() -> None:
    page = (ROOT / "docs/widgets.md").read_text(encoding="utf-8")

    assert renewed(page, widget_figures.PARTS) == page, "docs/widgets.md is stale: `make docs`"
