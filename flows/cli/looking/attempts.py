"""`stepmill show RUN EPISODE`, `--failed N` and `--template T`: single attempts explained, with pictures.

In a terminal that can show pictures the last one stands below the text, beside that of the first mistake. Otherwise it is
written into a file, whose path is printed. `--json` writes no picture that nobody asked for.
"""

import asyncio
import io
import os
import re
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from PIL import Image

from flows.cli.looking.flags import FILE_FLAGS
from flows.job.config_loader import Sources
from flows.job.report_lines import ID_CHARS
from flows.looking.attempt_lines import attempt_facts, attempt_lines
from flows.looking.episode_page import episode_page
from flows.looking.explanation import Explanation, explain
from flows.looking.films import gif, marked_picture, mp4, strip, write_file
from flows.looking.places import (
    Attempts,
    Head,
    failures,
    find_attempt,
    open_attempts,
    read_attempt,
)
from flows.looking.terminal_picture import Protocol, protocol_of, terminal_text
from flows.terminal import ExitCode, print_lines, print_result
from schemas.base import JsonObject
from schemas.errors import BadConfig, Damaged
from schemas.verdicts.full_episode import FullEpisode

_ID = re.compile(r"[0-9a-f]{4,64}")
_SHOWN_SIDE, _GAP = 720, 12

_Attempt = tuple[Head, FullEpisode, Explanation]


def names_attempt(word: str | None) -> bool:
    """Return whether the second word of `show` is an episode: the beginning of an id, and no folder."""
    return word is not None and _ID.fullmatch(word) is not None and not Path(word).exists()


def run(args: Namespace) -> int:
    """Show the attempts that the arguments name, and return the exit code.

    Raises:
        BadConfig: flags are combined that exclude each other, or a film needs a package that is not there.
        NotFound: there is no such run, attempt or template.
        Damaged: an attempt cannot be read, or has no pictures for the file that was asked for.
        Unwritable: a file cannot be written.
    """
    asked = {name: getattr(args, name) for name in FILE_FLAGS if getattr(args, name) is not None}
    _check(args, asked)
    sources = Sources(config=args.config, settings=tuple(args.settings))
    attempts = asyncio.run(open_attempts(args.run, sources, os.environ, version=args.version))
    if args.other is not None:
        heads = [find_attempt(attempts, args.other)]
    else:
        heads = failures(attempts, template=args.template, count=args.failed)
    found = list(_explain(attempts, heads, single=args.other is not None))
    files: JsonObject = {}
    for name, path in asked.items():
        write_file(Path(path), _MAKERS[name](*found[0]))
        files[name] = path
    if args.json:
        told = [attempt_facts(*one) for one in found]
        total = len(failures(attempts, template=args.template))
        print_result({"run": args.run, "not_accepted": total, "episodes": told, "files": files})
    else:
        _print(args, attempts, found, files)
    return ExitCode.DONE


def _check(args: Namespace, asked: Mapping[str, str]) -> None:
    """Refuse flags that exclude each other."""
    if args.other is not None and (args.failed is not None or args.template is not None):
        flag = "--failed" if args.failed is not None else "--template"
        raise BadConfig(f"{flag}: is for many episodes; leave it out, or the id '{args.other}'")
    if asked and args.other is None:
        raise BadConfig(f"--{next(iter(asked))}: is for one episode: name its id behind the run")
    for flag in ("k", "all"):
        if getattr(args, flag):
            raise BadConfig(f"--{flag}: is for a whole run, not for single episodes")


def _explain(attempts: Attempts, heads: list[Head], *, single: bool) -> Iterator[_Attempt]:
    """Yield attempts with what explains them; those without pictures in a dataset only if one was named."""
    verdicts = attempts.verdicts({one.episode_id for one in heads})
    if single:
        episode = read_attempt(attempts, heads[0])
        yield heads[0], episode, explain(episode, verdicts[heads[0].episode_id])
        return
    whole = {one.episode.episode_id: one for one in attempts.read({h.episode_id for h in heads})}
    for head in heads:
        if head.episode_id in whole:
            episode = whole[head.episode_id]
            yield head, episode, explain(episode, verdicts[head.episode_id])


def _print(args: Namespace, attempts: Attempts, found: list[_Attempt], files: JsonObject) -> None:
    how = protocol_of(sys.stdout, os.environ)
    folder = None if how is not None or files else Path(tempfile.mkdtemp(prefix="stepmill-"))
    for number, (head, episode, told) in enumerate(found):
        print_lines([""] * (number > 0) + [*attempt_lines(head, episode, told)])
        _show_picture(episode, told, how, folder)
    print_lines(f"{name:9}{path}" for name, path in files.items())
    if folder is not None and not any(folder.iterdir()):
        folder.rmdir()
    if args.other is None:
        print_lines(_count_lines(args, attempts, len(found)))


def _count_lines(args: Namespace, attempts: Attempts, shown: int) -> Iterator[str]:
    total = len(failures(attempts, template=args.template))
    of = f" of {args.template}" if args.template else ""
    if not total:
        yield f"all {len(attempts.heads)} attempts are accepted: there is no failure{of} to explain"
    elif not shown:
        yield f"{total} attempts{of} were not accepted, and none has its steps here: look at the run"
    elif shown < total:
        yield from ("", f"{shown} of {total} attempts{of} that were not accepted: --failed {total}")


def _show_picture(
    episode: FullEpisode, told: Explanation, how: Protocol | None, folder: Path | None
) -> None:
    """Show the last picture of an attempt, or say where it is written, or why there is none."""
    try:
        png = picture(episode, told)
    except Damaged as error:
        print_lines([f"picture  {error}"])
        return
    if how is not None:
        sys.stdout.write(terminal_text(png, how))
        sys.stdout.flush()
    elif folder is not None:
        path = folder / f"{episode.episode.episode_id[:ID_CHARS]}.png"
        write_file(path, png)
        print_lines([f"picture  {path}"])


def picture(episode: FullEpisode, told: Explanation) -> bytes:
    """Return the last picture of an attempt as a PNG, that of its first mistake to its left.

    Raises:
        Damaged: the attempt has no pictures, or one of them cannot be decoded.
    """
    attempt = episode.episode
    if not attempt.steps:
        raise Damaged(f"episode {attempt.episode_id}: has no pictures: it broke before the first")
    last = attempt.steps[-1]
    chosen = [last]
    mistake = told.first_mistake
    if mistake is not None and mistake.step < last.step:
        chosen = [attempt.steps[mistake.step], last]
    made = [marked_picture(attempt, one, side=_SHOWN_SIDE) for one in chosen]
    width = sum(one.width for one in made) + _GAP * (len(made) - 1)
    sheet = Image.new("RGB", (width, max(one.height for one in made)), "#ffffff")
    left = 0
    for one in made:
        sheet.paste(one, (left, 0))
        left += one.width + _GAP
    out = io.BytesIO()
    sheet.save(out, "PNG")
    return out.getvalue()


def _page(head: Head, episode: FullEpisode, told: Explanation) -> bytes:
    return episode_page(head, episode, told).encode()


_MAKERS: Mapping[str, Callable[[Head, FullEpisode, Explanation], bytes]] = {
    "picture": lambda _, episode, told: picture(episode, told),
    "strip": lambda _, episode, __: strip(episode.episode),
    "gif": lambda _, episode, __: gif(episode.episode),
    "mp4": lambda _, episode, __: mp4(episode.episode),
    "html": _page,
}
"""What writes an attempt into a file, by the name of the flag."""
