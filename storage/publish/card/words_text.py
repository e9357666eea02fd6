"""The card's section on words: how goals, thoughts and notes came to be."""

from collections.abc import Iterator

from storage.publish.card.escape import markdown
from storage.publish.card.survey import Survey

_SOURCES = {
    "template": "sentences of a grammar, made from what the step is for, what was seen before and what its picture "
    "shows; `seen` checks what they quote",
    "policy": "the policy's own words, as it replied",
    "rewritten": "rewritten by a model, and kept where all that they quote is in sight",
}


def words_lines(known: Survey) -> Iterator[str]:
    """Yield how goals, thoughts and notes of the published episodes were made, as a list."""
    goals = known.goals
    if goals.total:
        share = 100 * goals.unquoted / goals.total
        yield f"* Goals: of {goals.total:,} tasks {share:.0f} % quote nothing."
    if goals.manners:
        told = goals.manners.most_common()
        parts = ", ".join(f"{markdown(name)} {count:,}" for name, count in told)
        yield f"* Goals of generated websites are drawn from grammars by the task's seed, in these manners: {parts}"
        yield "  (`parameters` of `tasks` has them, as `manners`)."
    for source, count in sorted(known.thoughts.items()):
        about = _SOURCES.get(source, "from elsewhere")
        yield f"* Thoughts, {count:,} of `{markdown(source)}`: {about}."
    if known.notes:
        yield f"* Notes: {known.notes:,} steps write down what a later one needs (`note`)."
    if not (goals.total or known.thoughts):
        yield "* Nothing is published that has words."
