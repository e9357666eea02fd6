"""`stepmill worlds show`: one world in words, and its home page as a picture."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from flows import signals
from flows.checks.world_pages import SIZE, open_world
from flows.cli.tasks.sheet import check_picture_path
from flows.cli.tasks.show import save_picture
from flows.resources.browsers import open_browsers
from flows.terminal import ExitCode, print_error, print_lines, print_result, table
from generators.worlds.drawing.draw import draw
from schemas.episodes.observation import Observation
from schemas.errors import RolloutFailure
from schemas.worlds.look import Look
from schemas.worlds.world import Entity, World


def run(args: argparse.Namespace) -> int:
    """Carry the command out and return its exit code."""
    world, _, again = draw(*args.world)
    to = None if args.to is None else check_picture_path("--to", Path(args.to))
    if to is not None:
        try:
            save_picture(signals.run(_look(world)), to)
        except RolloutFailure as failure:
            print_error(f"{world.origin}: {failure.message}")
            return ExitCode.SHORT
    if args.json:
        said = world.model_dump(mode="json") | {
            "sha256": world.sha256,
            "origin": world.origin,
            "again": again,
        }
        print_result(said | {"picture": None if to is None else str(to)})
    else:
        print_lines(_lines(world, to, again))
    return ExitCode.DONE


async def _look(world: World) -> Observation:
    async with open_browsers() as browsers, open_world(browsers, world) as session:
        return await session.observe()


def _lines(world: World, to: Path | None, again: int) -> Iterator[str]:
    size = f"{SIZE[0]} × {SIZE[1]}"
    yield from (
        f"world    {world.family}/{world.seed}, {world.sha256[:12]}",
        f"drawn    {again + 1} times until it was valid" if again else "drawn    once",
        f"title    {world.title}",
        f"address  {world.origin}",
        f"clock    {world.at:%Y-%m-%d %H:%M}, stands still",
        f"language {world.language.value}, {world.locale}, {world.currency}",
        f"user     {world.user}",
        f"look     {_look_of(world.look)}",
        f"picture  {to}, {size}" if to else f"picture  {size}; --to FILE saves it",
        "",
    )
    head = ("entity", "called", "rows", "fields", "pages offer", "states")
    yield from table(head, (_entity(world, entity) for entity in world.entities))
    yield ""
    yield from table(
        ("view", "called", "of", "shows", "filters by", "sorts by", "rows a page"),
        (
            (
                view.name,
                view.label,
                view.entity,
                " ".join(view.columns),
                " ".join(view.filters) or "–",
                " ".join(view.sorts) or "–",
                str(view.page_size),
            )
            for view in world.views
        ),
    )


def _entity(world: World, entity: Entity) -> tuple[str, ...]:
    flow = world.workflow(entity.name)
    offered = (("add", entity.can_add), ("edit", entity.can_edit), ("delete", entity.can_delete))
    return (
        entity.name,
        f"{entity.one}, {entity.many}",
        str(entity.rows),
        str(len(entity.fields)),
        " ".join(name for name, can in offered if can) or "–",
        " ".join(entity.field(flow.field).choices) if flow is not None else "–",
    )


def _look_of(look: Look) -> str:
    """Return a look in words: options by name and value, flags by name if set."""
    parts = list[str]()
    for name, value in look.model_dump(mode="json").items():
        if isinstance(value, bool):
            parts += [name] if value else []
        else:
            parts.append(f"{name} {value}")
    return ", ".join(parts)
