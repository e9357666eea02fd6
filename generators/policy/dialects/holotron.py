"""Holotron: H Company's models on Nemotron backbones, and this program's default.

Holotron-12B's own contract is not published. Its nearest published relatives, the Holo3 agent loop
and NVIDIA's harness for Holotron-3, agree: one JSON object with a note, a thought and one flat tool
call, whole numbers from 0 to 1000, pictures in `<observation>` turns, results in `<tool_output>`
or `<error>`, the schema in the system prompt too. Each of these is a setting.
"""

from generators.policy.dialects.image_size import Tiled
from generators.policy.dialects.settings import HolotronSettings
from generators.policy.dialects.shared.agent_loop import Loop, loop_dialect
from generators.policy.dialects.shared.browser_tools import EVERYTHING
from generators.policy.dialects.shared.json_dialect import JsonDialect, ReplyKeys
from generators.policy.dialects.shared.tools import tools_left
from generators.policy.dialects.switch_words import NEMOTRON
from schemas.errors import BadConfig

NAME = "holotron"
"""The dialect's name in configurations."""


def holotron(settings: HolotronSettings) -> JsonDialect:
    """Return the family's dialect, set as `settings` say.

    Raises:
        BadConfig: two keys of the reply share a name, or a tool left out does not exist.
    """
    tools = tools_left(EVERYTHING, settings.leave_out)
    keys = ReplyKeys(settings.note_key, settings.thought_key, settings.call_key, settings.name_key)
    if len({keys.note, keys.thought, keys.call}) < 3:  # noqa: PLR2004 - three keys
        raise BadConfig(
            "policy.dialect_options: note_key, thought_key and call_key must be three names"
        )
    if any(keys.name in tool.arguments.names() for tool in tools):
        raise BadConfig(f"policy.dialect_options: name_key '{keys.name}' is a tool's argument")
    loop = Loop(
        name=NAME,
        version="1",
        pictures=Tiled(max_tiles=settings.tiles),
        switch_words=NEMOTRON,
        tools=tools,
        keys=keys,
        observation=settings.observation_tag,
        output=settings.output_tag,
        error=settings.error_tag,
        done=settings.done,
    )
    return loop_dialect(loop, settings)
