"""The agent loop that H Company publishes: its prompt, its turns and its reply.

One JSON object with a note, a thought and one flat tool call; pictures in `<observation>` turns; results in
`<tool_output>`, or `<error>` where a call failed; the schema in the system prompt too. The sentences are
this program's own, for models that were trained on prompts of this structure.
"""

from dataclasses import dataclass
from functools import partial

from generators.policy.dialects.coordinates import Convention
from generators.policy.dialects.image_size import PictureRule
from generators.policy.dialects.settings import Settings
from generators.policy.dialects.shared.arguments import Scale
from generators.policy.dialects.shared.json_dialect import JsonDialect, JsonDialectSpec, ReplyKeys
from generators.policy.dialects.shared.prompt_text import RULES, point_rules, tool_list
from generators.policy.dialects.shared.tools import Tool

_SYSTEM = """\
You operate a web browser on behalf of a user, with a mouse and a keyboard, until the user's task \
is done.

# Turns
Each turn shows you the browser in an <{observation}> block: a screenshot of the viewport{page}. \
Before it stands what your last call gave back, in <{output}> if it was carried out and in <{error}> \
if it was not. Older screenshots are replaced by a placeholder. You reply with one JSON object and \
nothing else:
- {note}: a fact from this screenshot that the task needs later, for once the screenshot is gone you \
will only have your notes; null if there is none.
- {thought}: in one to three short sentences, what you see, what came of your last call, and what \
you do next.
- {call}: exactly one call, as an object with {name} and that tool's arguments, all of them.

# Points
{measured} In element, describe in a few words what you act on, so that the description alone \
would find it.

# Tools
{tools}

# Rules
{rules}
{answering}"""

ANSWERING = """\
- As soon as the screenshot shows that the task is done, or you can answer it, call answer: with \
what was asked for, exact and complete, or with an empty text if nothing was asked. Call it too, \
saying why, if the task cannot be done."""
"""The rule about the tool `answer`, for families that have it."""

SCHEMA_BLOCK = "<output_format>\n```json\n{}\n```\n</output_format>"
"""Around the schema in the system prompt."""


KEYS = ReplyKeys("note", "thought", "tool_call", "tool_name")
"""The published keys of a reply."""


@dataclass(frozen=True)
class Loop:
    """What a family's loop has of its own."""

    name: str
    """The name in configurations."""
    version: str
    """Changes with the prompt's text and with the parser."""
    pictures: PictureRule
    """The size at which pictures are sent."""
    switch_words: tuple[str, ...]
    """The words that its chat template or tokenizer takes for something other than text."""
    tools: tuple[Tool, ...]
    """The tools in the order in which they are offered and tried."""
    keys: ReplyKeys = KEYS
    """The keys of a reply."""
    observation: str = "observation"
    """Tag around each screenshot."""
    output: str = "tool_output"
    """Tag around a tool's result."""
    error: str = "error"
    """Tag around the reason why a tool failed."""
    done: str = "done"
    """Result of a tool that returns nothing."""


def loop_dialect(loop: Loop, settings: Settings) -> JsonDialect:
    """Return the dialect of a family with this loop, set as `settings` say."""
    tag = loop.observation
    spec = JsonDialectSpec(
        name=loop.name,
        version=loop.version,
        convention=Convention.THOUSAND,
        pictures=loop.pictures,
        switch_words=loop.switch_words,
        keys=loop.keys,
        empty_note=None,
        tools=loop.tools,
        system=partial(_system, loop, settings),
        schema_block=SCHEMA_BLOCK,
        task="Task: {}",
        observation=lambda _step, page: (f"<{tag}>\n{page}", f"\n</{tag}>"),
        done=lambda tool, words: _result(loop.output, tool, words or loop.done),
        failed=partial(_result, loop.error),
    )
    return JsonDialect(spec, settings)


def _system(loop: Loop, settings: Settings, scale: Scale) -> str:
    answers = any(tool.name == "answer" for tool in loop.tools)
    return _SYSTEM.format(
        observation=loop.observation,
        page=", the page's URL and its title" if settings.page_line else "",
        output=loop.output,
        error=loop.error,
        note=loop.keys.note,
        thought=loop.keys.thought,
        call=loop.keys.call,
        name=loop.keys.name,
        measured=point_rules(scale),
        tools=tool_list(loop.tools),
        rules=RULES,
        answering=ANSWERING if answers else "",
    ).rstrip()


def _result(tag: str, tool: str, words: str) -> str:
    return f'<{tag} tool="{tool}">\n{words}\n</{tag}>'
