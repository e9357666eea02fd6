"""Holotron: H Company's models on Nemotron backbones, and this program's default.

Holotron-12B's own contract is not published. Its nearest published relatives, the Holo3 agent loop
and NVIDIA's harness for Holotron-3, agree: one JSON object with a note, a thought and one flat tool
call, whole numbers from 0 to 1000, pictures in `<observation>` turns, results in `<tool_output>`
or `<error>`, the schema in the system prompt too. Each of these is a setting.
"""

from functools import partial

from generators.policy.dialects.coordinates import Convention
from generators.policy.dialects.image_size import Tiled
from generators.policy.dialects.settings import HolotronSettings
from generators.policy.dialects.shared.arguments import Scale
from generators.policy.dialects.shared.browser_tools import EVERYTHING
from generators.policy.dialects.shared.json_dialect import JsonDialect, JsonDialectSpec, ReplyKeys
from generators.policy.dialects.shared.prompt_text import RULES, point_rules, tool_list
from generators.policy.dialects.shared.tools import Tool, tools_left
from generators.policy.dialects.switch_words import NEMOTRON
from schemas.errors import BadConfig

NAME = "holotron"
"""The dialect's name in configurations."""

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

_ANSWERING = """\
- As soon as the screenshot shows that the task is done, or you can answer it, call answer: with \
what was asked for, exact and complete, or with an empty text if nothing was asked. Call it too, \
saying why, if the task cannot be done."""


def holotron(settings: HolotronSettings) -> JsonDialect:
    """Return the family's dialect, set as `settings` say.

    Raises:
        BadConfig: two keys of the reply share a name, or a tool left out does not exist.
    """
    tools, tag = tools_left(EVERYTHING, settings.leave_out), settings.observation_tag
    keys = ReplyKeys(settings.note_key, settings.thought_key, settings.call_key, settings.name_key)
    if len({keys.note, keys.thought, keys.call}) < 3:  # noqa: PLR2004 - three keys
        raise BadConfig(
            "policy.dialect_options: note_key, thought_key and call_key must be three names"
        )
    if any(keys.name in tool.arguments.names() for tool in tools):
        raise BadConfig(f"policy.dialect_options: name_key '{keys.name}' is a tool's argument")
    spec = JsonDialectSpec(
        name=NAME,
        version="1",
        convention=Convention.THOUSAND,
        pictures=Tiled(max_tiles=settings.tiles),
        switch_words=NEMOTRON,
        keys=keys,
        empty_note=None,
        tools=tools,
        system=partial(_system, settings, tools),
        schema_block="<output_format>\n```json\n{}\n```\n</output_format>",
        task="Task: {}",
        observation=lambda _step, page: (f"<{tag}>\n{page}", f"\n</{tag}>"),
        done=lambda tool, words: _result(settings.output_tag, tool, words or settings.done),
        failed=partial(_result, settings.error_tag),
    )
    return JsonDialect(spec, settings)


def _system(settings: HolotronSettings, tools: tuple[Tool, ...], scale: Scale) -> str:
    answers = any(tool.name == "answer" for tool in tools)
    return _SYSTEM.format(
        observation=settings.observation_tag,
        page=", the page's URL and its title" if settings.page_line else "",
        output=settings.output_tag,
        error=settings.error_tag,
        note=settings.note_key,
        thought=settings.thought_key,
        call=settings.call_key,
        name=settings.name_key,
        measured=point_rules(scale),
        tools=tool_list(tools),
        rules=RULES,
        answering=_ANSWERING if answers else "",
    ).rstrip()


def _result(tag: str, tool: str, words: str) -> str:
    return f'<{tag} tool="{tool}">\n{words}\n</{tag}>'
