"""The options of a part: a table of the configuration, validated by the part's own pydantic model."""

from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from schemas.errors import BadConfig
from schemas.nearest import did_you_mean

Model = TypeVar("Model", bound=BaseModel)
"""The model of a part's options."""


def read_options(
    model: type[Model], options: Mapping[str, JsonValue], *, key: str, name: str
) -> Model:
    """Return the `options` of the part `name`, with its defaults; `key` is their table, for messages.

    Raises:
        BadConfig: an option is unknown or invalid.
    """
    known = list(model.model_fields)
    for option in options:
        if option not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise BadConfig(
                f"{key}: '{name}' has no option '{option}'{did_you_mean(option, known, count=1)}; {has}"
            )
    try:
        return model.model_validate(dict(options))
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"])
        where = f"{key}.{path}".rstrip(".")
        raise BadConfig(f"{where}: {first['msg']}, but is {first['input']!r:.80}") from error


def options_of(found: object) -> type[BaseModel] | None:
    """Return the class `Options` inside what a plug-in names; None if it has none.

    Raises:
        TypeError: it is no pydantic model.
    """
    options: object = getattr(found, "Options", None)
    if options is None:
        return None
    if not (isinstance(options, type) and issubclass(options, BaseModel)):
        raise TypeError(f"its Options is no pydantic model, but {options!r:.80}")
    return options
