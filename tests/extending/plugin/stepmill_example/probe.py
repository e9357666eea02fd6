"""A probe that adds up: whether the rows that were added come to the total that the task expects."""

from generators.sites.judging.protocol import Judgement, ProbeInput

stepmill_api = 1


def total(given: ProbeInput) -> Judgement:
    """Judge `{"probe": "total", "options": {"member": "price", "is": 20}}`."""
    member, expected = given.options["member"], given.options["is"]
    rows = [one.after for one in given.delta.added if isinstance(one.after, dict)]
    found = sum(float(str(row[str(member)])) for row in rows)
    others = len(given.delta.changed) + len(given.delta.removed)
    return Judgement(
        reward=float(found == expected and not others),
        reasons=(f"expected {expected} in all, found {found:g}", f"{others} other changes"),
    )
