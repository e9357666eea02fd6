"""What the server's chat template makes of a run's prompt: where the picture stands, how it ends, what it obeys.

The server itself is asked for the text of prompts, by vLLM's `/tokenize`. A server that does not show it but
reports the token ids of a reply's prompt is asked whether prompts end alike whatever a page says; of any
other the check says that it is not known.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from generators.endpoint_check.endpoint import CheckedEndpoint, system, user
from generators.endpoint_check.probe_images import filler_page
from generators.endpoint_check.result import CheckResult, Fitness
from generators.engine.client.rendered_prompt import RenderedPrompt
from generators.engine.protocol import Message, Part
from generators.policy.dialects.switch_words import EVERY_FAMILY, SWITCHES
from schemas.episodes.observation import PageState

_NAME = "template"
_SIZE = (64, 64)
"""Size of the picture whose place is looked for, px."""
_PLAIN = ("a plain page", "a page without a word of its own")
_OPENED, _CLOSED = "<think>", "</think>"
_SEVERITY = (Fitness.FIT, Fitness.POOR, Fitness.UNFIT)
_OTHER_DIALECT = (
    "see that '{}' is the model's own dialect: another one may name these words; if it is a plug-in's, add them to its "
    "switch_words"
)
_REPLY_TOKENS = 16
"""Tokens of a reply that shows where the grammar begins."""


@dataclass(frozen=True)
class _Finding:
    found: str
    fitness: Fitness = Fitness.FIT
    remedy: str = ""


async def check_template(endpoint: CheckedEndpoint) -> list[CheckResult]:
    """Check the place of a picture, the generation suffix, thinking, and the words that a template may obey.

    Raises:
        RolloutFailure: the endpoint gave no reply.
        RequestRefused: the server does not take such a request.
    """
    whole = await endpoint.render(_prompt(endpoint, _PLAIN[0]))
    start = await endpoint.render(_prompt(endpoint, _PLAIN[0]), suffix=False)
    if whole is None or start is None:
        return [_line([await _compare_token_ids(endpoint)])]
    suffix = whole.text[len(start.text) :] if whole.text.startswith(start.text) else ""
    findings = [
        await _find_picture(endpoint, start),
        _describe_suffix(suffix),
        await _find_thinking(endpoint, suffix or whole.text),
        await _find_switch_words(endpoint, suffix),
    ]
    return [_line([one for one in findings if one is not None])]


def _line(findings: Sequence[_Finding]) -> CheckResult:
    return CheckResult(
        name=_NAME,
        fitness=max((one.fitness for one in findings), key=_SEVERITY.index),
        found="; ".join(one.found for one in findings),
        remedy="; ".join(one.remedy for one in findings if one.remedy),
    )


def _prompt(
    endpoint: CheckedEndpoint, said: str, *pictures: Part, title: str | None = None
) -> list[Message]:
    """Return a prompt whose task and page say `said`, as a run would write it; the page `title` if one is given."""
    dialect = endpoint.dialect
    page = PageState(url="http://shop.example/0", title=title or said, scroll_x=0.0, scroll_y=0.0)
    before, after = dialect.observation_text(0, page)
    opening = dialect.task_message(said) + before
    parts = (opening, *pictures, after) if pictures else (opening + after,)
    return [system("You operate a browser."), user(*parts)]


async def _find_picture(endpoint: CheckedEndpoint, start: RenderedPrompt) -> _Finding:
    """Return whether a picture stands where the dialect puts it, within the observation."""
    if not endpoint.max_images:
        return _Finding("no picture to place")
    picture = filler_page(_SIZE, seed=endpoint.unique_prefix)
    shown = await endpoint.render(_prompt(endpoint, _PLAIN[0], picture), suffix=False)
    if shown is None:
        return _Finding(
            "where the picture stands is not known",
            Fitness.POOR,
            "the server shows no prompt with a picture: look into its own log",
        )
    if shown.text == start.text:
        return _Finding(
            "the picture is left out",
            Fitness.UNFIT,
            "serve with the model's own chat template (vLLM: --chat-template FILE)",
        )
    place = _common(shown.text, start.text)
    before = _prompt(endpoint, _PLAIN[0], picture)[-1].parts[0]
    anchor = str(before).strip().splitlines()[-1]
    if place >= start.text.rfind(anchor) + len(anchor):
        return _Finding("the picture stands inside the observation")
    return _Finding(
        "the picture stands before the observation",
        Fitness.POOR,
        "nothing, if the family was trained with this template; a template that keeps the order of a message's "
        "parts has it inside (vLLM: --chat-template FILE, or --chat-template-content-format openai)",
    )


def _describe_suffix(suffix: str) -> _Finding:
    if suffix:
        return _Finding(f"the prompt ends in {json.dumps(suffix, ensure_ascii=False)}")
    return _Finding(
        "the prompt has no generation suffix of its own",
        Fitness.POOR,
        "a later prompt may not begin with the one before, so the prefix cache serves less: use a template that only "
        "adds to the prompt's end for add_generation_prompt",
    )


async def _find_thinking(endpoint: CheckedEndpoint, ending: str) -> _Finding | None:
    """Return what the grammar meets where a prompt ends in an opened block of thinking; None: it does not."""
    if ending.rfind(_OPENED) <= ending.rfind(_CLOSED):
        return None
    schema = endpoint.dialect.reply_schema(endpoint.frame)
    if schema is None:
        return _Finding("it opens a thinking block, and no grammar meets it")
    reply = await endpoint.ask(_prompt(endpoint, _PLAIN[0]), tokens=_REPLY_TOKENS, schema=schema)
    written = (reply.reasoning or reply.text).lstrip()
    if not written.startswith("{"):
        where = "keeps apart from" if reply.reasoning else "leaves in"
        return _Finding(f"it opens a thinking block, which the server {where} the reply")
    return _Finding(
        "it opens a thinking block, and the grammar writes its JSON inside",
        Fitness.UNFIT,
        'policy.dialect_options.more_instructions = "/no_think" or policy.dialect_options.thinking = false, '
        "whichever the template heeds; or serve with the model's own --reasoning-parser",
    )


async def _find_switch_words(endpoint: CheckedEndpoint, suffix: str) -> _Finding:
    """Return whether a page's words, as the dialect writes them, reach the model as words."""
    words = tuple(dict.fromkeys((*endpoint.dialect.switch_words, *EVERY_FAMILY)))
    plain = await endpoint.render(_prompt(endpoint, _statement(())))
    if await _are_only_words(endpoint, words, suffix, plain):
        return _Finding(f"none of {len(words)} switch words passes")
    obeyed = [w for w in words if not await _are_only_words(endpoint, (w,), suffix, plain)]
    return _Finding(
        f"the template obeys what a page says: {', '.join(obeyed) or 'several switch words together'}",
        Fitness.UNFIT,
        _OTHER_DIALECT.format(endpoint.dialect.name),
    )


def _statement(words: Sequence[str]) -> str:
    return f"It says {' '.join(words)} here."


async def _are_only_words(
    endpoint: CheckedEndpoint, words: Sequence[str], suffix: str, plain: RenderedPrompt | None
) -> bool:
    """Return whether a prompt whose page says `words` has all of them as text, and ends as `plain` does."""
    shown = await endpoint.render(_prompt(endpoint, _statement(words)))
    if shown is None or plain is None or not shown.text.endswith(suffix):
        return False
    wanted = endpoint.dialect.task_message(_statement(words))
    if " ".join(wanted.split()) not in " ".join(shown.text.split()):
        return False
    return not any(
        shown.tokens.count(word) > plain.tokens.count(word) for word in set(words) - set(SWITCHES)
    )


async def _compare_token_ids(endpoint: CheckedEndpoint) -> _Finding:
    """Return whether prompts end in the same tokens whatever a page says, for a server that shows no text."""
    words = " ".join(dict.fromkeys((*endpoint.dialect.switch_words, *EVERY_FAMILY)))
    ids: list[Sequence[int]] = []
    for said in (*_PLAIN, words):
        reply = await endpoint.ask(_prompt(endpoint, said, title="A page"), tokens=1)
        if reply.prompt_token_ids is None:
            return _Finding(
                "not known: the server shows neither a prompt's text nor its tokens",
                Fitness.POOR,
                "vLLM shows both (/tokenize, return_token_ids); else render the model's chat template by hand, and "
                "see where it puts pictures and whether it ends in an opened thinking block",
            )
        ids.append(reply.prompt_token_ids[::-1])
    if _common(ids[0], ids[2]) < _common(ids[0], ids[1]):
        return _Finding(
            "the template obeys what a page says: the prompt then ends otherwise",
            Fitness.UNFIT,
            _OTHER_DIALECT.format(endpoint.dialect.name),
        )
    return _Finding(
        "prompts end alike whatever a page says; where the picture stands, and how they end, is not known",
        Fitness.POOR,
        "vLLM shows both at /tokenize; a proxy may hide it",
    )


def _common(first: Sequence[object], second: Sequence[object]) -> int:
    """Return the length of two sequences' common beginning."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(first), len(second)))
