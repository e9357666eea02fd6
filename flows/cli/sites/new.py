"""`stepmill sites new`: look at an application, and write a first file of it."""

import argparse
import json
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from flows import signals
from flows.checks.site_draft import Draft, LoginForm, look
from flows.checks.suggested_masks import MaskKind
from flows.terminal import ExitCode, log_to_stderr, print_lines, print_note, print_result
from schemas.configuration.application import Application
from schemas.errors import BadConfig, RolloutFailure

_NAME = re.compile(r"[a-z][a-z0-9-]*")
MAX_TABLES = 40
"""Largest number of a database's tables that are named."""

_NOTHING = ["echo", "{}"]


def run(args: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    if not _NAME.fullmatch(args.name):
        raise BadConfig(
            f"{args.name}: expected small letters, digits and '-'; it becomes a host's name"
        )
    if not args.start.startswith("/"):
        raise BadConfig(f"--start {args.start}: expected a path, as /admin/")
    path = Path(f"{args.name}.toml")
    if path.exists():
        raise BadConfig(f"{path} is there already; move it away, or choose another name")
    application = _application(args)
    log_to_stderr()
    print_note(f"looking at {args.url or args.command}")
    try:
        draft = signals.run(look(args.name, application, start=args.start))
    except RolloutFailure as failure:
        raise BadConfig(failure.message) from None
    lines = [*_lines(args, application, draft)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    notes = [*draft.notes, *_gaps(application, draft)]
    if args.json:
        print_result({"site": args.name, "file": str(path), "missing": notes})
    else:
        print_lines([f"wrote {path}", *(f"look at: {note}" for note in notes), *_next(args.name)])
    return ExitCode.DONE


def _application(args: argparse.Namespace) -> Application:
    """Return the application as far as it is known before anybody has looked."""
    start: dict[str, object] = {"url": args.url.rstrip("/"), "seconds": 5} if args.url else {}
    if args.command:
        command = shlex.split(args.command)
        if not any("{port}" in word for word in command):
            raise BadConfig(
                "--command: the server gets its port as {port}, as in 'shop --port {port}'"
            )
        start = {"command": command}
    table = {
        "origin": f"http://{args.name}.localhost",
        "start": start,
        "reset": {"command": _NOTHING} if args.url else None,
        "state": {"command": _NOTHING},
        "home": str(Path.cwd()),
    }
    try:
        return Application.model_validate(table)
    except ValueError as error:
        raise BadConfig(f"--url: {error}") from None


def _lines(args: argparse.Namespace, application: Application, draft: Draft) -> Iterator[str]:
    """Yield the lines of the file."""
    yield f"# {args.name}, as `stepmill sites new` found it. Look through it, then: stepmill sites check {args.name}"
    yield f"origin = {_quote(application.origin)}"
    yield ""
    yield "[start]"
    if args.url:
        yield f"url = {_quote(application.start.url or '')}"
        yield ""
        yield "[reset]  # COMPLETE: how the server gets into the state of {seed}"
        yield 'request = { path = "/reset?seed={seed}" }'
    else:
        yield f"command = {json.dumps(application.start.command)}"
    if draft.login is not None:
        yield from _login(args.name, draft.login)
    yield ""
    yield from _state(draft)
    if any(one.kind is not None for one in draft.masks):
        yield ""
        yield "[masks]  # what differs between two visits of the start page"
        yield from _masks(draft)


def _login(name: str, form: LoginForm) -> Iterator[str]:
    variable = name.upper().replace("-", "_")
    of = "" if form.form is None else f", form = {_quote(form.form)}"
    rules = ", ".join(f"{_key(token)} = {{ field = {_quote(token)}{of} }}" for token in form.tokens)
    yield ""
    yield "[[login.steps]]"
    yield 'method = "GET"'
    yield f"path = {_quote(form.page)}"
    if rules:
        yield f"find = {{ {rules} }}"
    yield ""
    yield "[[login.steps]]"
    yield f"path = {_quote(form.action)}"
    yield "[login.steps.form]"
    yield from (f"{_quote(field)} = {_quote(value)}" for field, value in form.fixed)
    yield from (f'{_quote(token)} = "{{found.{_key(token)}}}"' for token in form.tokens)
    if form.user is not None:
        yield f'{_quote(form.user)} = "{{user.name}}"'
    yield f'{_quote(form.password)} = "{{user.password}}"'
    yield ""
    yield "[users.first]"
    yield f'name = "${variable}_USER"  # a variable of the environment'
    yield f'password = "${variable}_PASSWORD"'


def _state(draft: Draft) -> Iterator[str]:
    if not draft.databases:
        yield "[state]  # COMPLETE: no SQLite file was found; an address that answers with JSON, a folder, or a command"
        yield 'request = { method = "GET", path = "/state" }'
        return
    first, *others = draft.databases
    yield f"[state]  # its tables: {_list(draft.databases[first])}"
    yield f"sqlite = {_quote(first)}"
    for other in others:
        yield f"# also found: {other} ({_list(draft.databases[other])})"


def _list(tables: Sequence[str]) -> str:
    """Return the names of tables, with the number of those that are left out."""
    more = f" and {len(tables) - MAX_TABLES} more" if len(tables) > MAX_TABLES else ""
    return (", ".join(tables[:MAX_TABLES]) or "none yet") + more


def _masks(draft: Draft) -> Iterator[str]:
    for kind in (MaskKind.FIELDS, MaskKind.PATTERNS):
        found = [one.mask for one in draft.masks if one.kind is kind]
        if found:
            yield f"{kind.value} = {json.dumps(found)}"


def _gaps(application: Application, draft: Draft) -> Iterator[str]:
    """Yield what the file still needs, or should be looked at."""
    if application.start.url is not None:
        yield "reset: how this server gets into the state of a task's seed is not to be seen; complete [reset]"
    elif not any("{folder}" in word for word in application.start.command):
        yield (
            "the command names no {folder}: if the server keeps its data elsewhere, visits see what others left; have "
            "it keep them in {folder}, or state [reset]"
        )
    if not draft.databases:
        yield "state: no SQLite file was found; complete [state]"
    elif len(draft.databases) > 1:
        yield f"state: {len(draft.databases)} SQLite files were found; the first is taken"
    if draft.login is None:
        yield "login: the start page and what it leads to ask for no password; state [login] if users log in elsewhere"
    for one in draft.masks:
        yield f"masks: {one.sentence}"


def _next(name: str) -> Iterator[str]:
    yield "next: write a task or two beside it, name both in a run's file, and try them:"
    yield f'  [sites]  {name} = "{name}.toml"     [tasks]  source = "tasks.jsonl"'
    yield f"  stepmill sites check {name} --config run.toml"


def _key(token: str) -> str:
    """Return a name for what a rule finds."""
    plain = re.sub(r"[^a-z0-9_]+", "_", token.lower()).strip("_")
    return plain if plain[:1].isalpha() else f"token_{plain}"


def _quote(text: str) -> str:
    """Return a text as TOML writes it; its basic strings have JSON's escapes."""
    return json.dumps(text)
