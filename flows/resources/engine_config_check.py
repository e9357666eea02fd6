"""Whether an engine section can be honoured, before any work and without a client or a server.

A dry run and a refused command take as long as their imports do, so this module imports what plans a run, and
nothing that asks an engine.
"""

from collections.abc import Iterator

from generators.engine.simulator.command import BadCommand, Command, read_command
from generators.engine.vllm.cache_blocks import (
    block_tokens,
    encoded_tokens,
    livelock,
    step_tokens,
)
from generators.engine.vllm.command import USAGE_FLAGS, check_arguments, check_installed_flags
from generators.engine.vllm.gpus import check_replicas, gpus_per_server
from generators.policy.dialects.protocol import Dialect
from generators.policy.model.setup import dialect_of
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import EngineKind, EngineSection, PolicyName, PolicySection
from schemas.episodes.viewport import picture_shapes
from schemas.errors import BadConfig


def check_engine(config: RunConfig) -> None:
    """Refuse an engine section that cannot be honoured, before any work.

    Raises:
        BadConfig: the error names the key and the remedy.
        NoEngine: an argument of a server is refused.
    """
    engine = config.engine
    match engine.kind:
        case EngineKind.OPENAI if not engine.urls:
            raise BadConfig(
                "engine.urls: 'openai' needs the endpoints, as [\"http://127.0.0.1:8000/v1\"]"
            )
        case EngineKind.VLLM if engine.model is None:
            raise BadConfig("engine.model: 'vllm' needs the model to serve: a name or a folder")
        case EngineKind.VLLM:
            check_arguments(engine.args)
            check_installed_flags(engine)
            check_encoder_budget(config)
        case EngineKind.SIMULATOR:
            simulator_command(engine)
        case _:
            pass
    if engine.kind is not EngineKind.VLLM and engine.revision is not None:
        raise BadConfig(
            f"engine.revision: '{engine.kind}' loads no model from the Hub; leave it out"
        )
    if engine.kind is not EngineKind.OPENAI and engine.urls:
        raise BadConfig(f"engine.urls: '{engine.kind}' needs no endpoints; leave them out")
    check_replicas(engine)
    gpus_per_server(engine)
    if engine.usd_per_hour is not None and engine.usd_per_million is not None:
        raise BadConfig("engine: priced by the hour and by tokens; leave one of the two out")


def check_encoder_budget(config: RunConfig) -> None:
    """Refuse flags of a vLLM with which it can stand still for ever over the pictures of a prompt.

    Pictures of every size that an episode may draw are tried: one that is nearly as wide as high may take fewer tokens
    than a smaller one of another shape, and a block touches more of small ones. Of a model whose blocks are not known, and of flags that leave the budget to vLLM, nothing is said.

    Raises:
        BadConfig: the tokens of a step are fewer than those of the pictures that a block can touch.
    """
    engine = config.engine
    block, step = block_tokens(engine.model, engine.args), step_tokens(engine.args)
    if block is None or step is None:
        return
    shapes = list(picture_shapes(config))
    for section in config.mix:
        if not config.asks_engine(section):
            continue
        pictures = section.keep_images + section.slack_images
        sizes = {
            dialect.image_tokens(*dialect.sent_size(*shape))
            for dialect in _dialects(section)
            for shape in shapes
        }
        worst = max(sizes, key=lambda size: encoded_tokens(block, picture=size, pictures=pictures))
        problem = livelock(block, step, picture=worst, pictures=pictures)
        if problem is not None:
            raise BadConfig(
                f"engine.args: {problem}, or have smaller pictures (policy.dialect_options, browser.picture_side, "
                "browser.viewport), or fewer (policy.keep_images, policy.slack_images)"
            )


def _dialects(section: PolicySection) -> Iterator[Dialect]:
    """Yield the dialects in which a policy asks the engine, those of its roles too."""
    yield dialect_of(section)
    if section.name == PolicyName.SURFER:
        for role in (section.localizer, section.validator):
            if role is not None and not role.urls:
                yield dialect_of(section, role)


def simulator_command(engine: EngineSection) -> Command:
    """Return the command line of a run's simulator.

    Raises:
        BadConfig: a flag is unknown or its value out of range.
    """
    try:
        return read_command((*USAGE_FLAGS, *engine.args), model=engine.model)
    except BadCommand as error:
        raise BadConfig(f"engine.args: {error}") from error
