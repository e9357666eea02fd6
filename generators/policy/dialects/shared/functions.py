"""Tools in the form in which OpenAI's protocol and Qwen's prompts list functions."""

from generators.policy.dialects.shared.arguments import Scale
from generators.policy.dialects.shared.json_schema import object_schema
from generators.policy.dialects.shared.keys import key_schema
from generators.policy.dialects.shared.tools import Tool
from schemas.base import JsonObject


def function_of(tool: Tool, scale: Scale) -> JsonObject:
    """Return a tool as a function, with the schema of its arguments."""
    schemas = tool.arguments.schemas(scale)
    parameters = object_schema(schemas)
    if any("#/$defs/key" in str(schema) for schema in schemas.values()):
        parameters["$defs"] = {"key": key_schema()}
    function: JsonObject = {
        "name": tool.name,
        "description": tool.description,
        "parameters": parameters,
    }
    return {"type": "function", "function": function}
