"""What the window costs on a large dataset: making the look-up, starting, and each kind of page.

The dataset has 100,000 attempts and a million steps, whose goals, thoughts and pages are drawn from a vocabulary of a few
thousand words; a page has forty elements, and pages recur. Pictures are 4 kB of noise. The real command serves it, and pages are
asked for by a client without a browser, in turns: each time another filter, search or episode.

Lines: a look-up within 3 minutes; the first page 2 s after the command began, when the look-up is there; each kind
of page within 300 ms in the median and 800 ms at the 95th percentile; 500 MB for the window and all it starts.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from statistics import median, quantiles

import pyarrow as pa
import pyarrow.parquet as pq
from aiohttp import ClientSession, CookieJar

from bench.diff import own
from bench.measuring.process import alone, peak_mb, pss_mb
from bench.measuring.result import ROOT, report
from bench.synthetic.rows import row_of
from flows.viewing.opening import open_for_view
from schemas.base import canonical_json, content_hash, sha256_hex
from schemas.configuration.sections import AcceptSection
from schemas.tables.tables import Row
from storage.publish.plan.config_columns import config_schema
from storage.publish.plan.manifest import MANIFEST, Counts, Manifest, PublishedFile
from storage.reading.lookup import cache_folder, lookup_folder, make_lookup

MAX_LOOKUP_SECONDS, MAX_START_SECONDS, MAX_MB = 180.0, 2.0, 500.0
MAX_MEDIAN_MS, MAX_P95_MS = 300.0, 800.0
STEPS = 10
"""Rows of `steps` of an episode."""

_A_FILE = 1_000
_PAGES = 2_000
_WORDS = 4_000
_ASKED = 40


def main() -> int:
    """Run the benchmark; the exit status says whether every line is held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=100_000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stepmill-bench-") as folder:
        alone(make_dataset, Path(folder) / "data", args.episodes)
        figures = measure(Path(folder) / "data", Path(folder) / "cache", args.episodes)
    report(figures)
    return 0 if figures["held"] else 1


def measure(place: Path, cache: Path, episodes: int) -> dict[str, object]:
    """Return the figures of a dataset, with the lines and whether they are held."""
    made = alone(make, str(place), str(cache))
    served = asyncio.run(ask(place, cache, episodes))
    times = {name: value for name, value in served.items() if name.endswith("_ms")}
    held = (
        made["lookup_seconds"] <= MAX_LOOKUP_SECONDS
        and served["start_seconds"] <= MAX_START_SECONDS
        and served["window_mb"] <= MAX_MB
        and all(value <= MAX_MEDIAN_MS for name, value in times.items() if "_p50" in name)
        and all(value <= MAX_P95_MS for name, value in times.items() if "_p95" in name)
    )
    return {
        "bench": "window",
        "episodes": episodes,
        "steps": episodes * STEPS,
        **{name: round(value, 1) for name, value in (made | served).items()},
        "max_lookup_seconds": MAX_LOOKUP_SECONDS,
        "max_start_seconds": MAX_START_SECONDS,
        "max_median_ms": MAX_MEDIAN_MS,
        "max_p95_ms": MAX_P95_MS,
        "max_window_mb": MAX_MB,
        "held": held,
    }


def make(place: str, cache: str) -> dict[str, float]:
    """Make the look-up; return the seconds, the most MB that took, and the MB on the disk."""
    begun = time.perf_counter()
    opened = asyncio.run(open_for_view(place, dict(os.environ)))
    folder = lookup_folder(cache_folder({"XDG_CACHE_HOME": cache}), opened)
    make_lookup(opened, folder, lambda _share: None)
    return {
        "lookup_seconds": time.perf_counter() - begun,
        "lookup_peak_mb": peak_mb(),
        "lookup_mb": sum(file.stat().st_size for file in folder.iterdir()) / 1e6,
    }


async def ask(place: Path, cache: Path, episodes: int) -> dict[str, float]:
    """Serve the dataset by the real command; return the seconds of its start, the ms of pages, and its MB."""
    environ = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    begun = time.perf_counter()
    command = (str(ROOT / ".venv" / "bin" / "stepmill"), "view", str(place), "--json")
    process = await asyncio.create_subprocess_exec(
        *command, env=environ, stdout=subprocess.PIPE, limit=1 << 20
    )
    try:
        if process.stdout is None:
            raise SystemExit("the command has no output")
        address = json.loads(await process.stdout.readline())["address"]
        async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as client:
            await get(client, address)
            found = {"start_seconds": time.perf_counter() - begun}
            base = address.partition("/?")[0]
            for name, paths in asked_paths(episodes).items():
                times = [await get(client, f"{base}/0/{path}") for path in paths]
                found[f"{name}_p50_ms"] = median(times)
                found[f"{name}_p95_ms"] = quantiles(times, n=20)[-1]
        found["window_mb"] = pss_mb(own=True, pid=process.pid)
        return found
    finally:
        process.terminate()
        await process.wait()


async def get(client: ClientSession, url: str) -> float:
    """Return the ms until a page is there."""
    begun = time.perf_counter()
    async with client.get(url) as answer:
        data = await answer.read()
        if answer.status != 200 or b"<h1>Reading" in data[:4_000]:  # noqa: PLR2004 - HTTP's OK
            raise SystemExit(f"{url}: {answer.status} {data[:500]!r}")
    return (time.perf_counter() - begun) * 1e3


def asked_paths(episodes: int) -> Mapping[str, list[str]]:
    """Return the pages of each kind that are asked for."""
    random, words = Random(1), vocabulary()
    ids = [content_hash(["episode", random.randrange(episodes)]) for _ in range(_ASKED)]
    some = [random.randrange(100) for _ in range(_ASKED)]
    return {
        "overview": [f"overview?by={'family' if at % 2 else 'template'}" for at in range(_ASKED)],
        "filter": [f"episodes?template=kind-{one}/find&n_steps=2..9&sort=longest" for one in some],
        "search": [f"episodes?q={random.choice(words)}+{random.choice(words)}" for _ in ids],
        "page_search": [f"episodes?q={random.choice(words)}&in=page" for _ in ids],
        "episode": [f"episodes/{id_}" for id_ in ids],
        "picture": [f"pictures/{id_}/last" for id_ in ids],
    }


def vocabulary() -> list[str]:
    """Return the words of goals, thoughts and pages."""
    random = Random(3)
    letters = "etaoinshrdlcumwfgypbvk"
    return ["".join(random.choices(letters, k=random.randint(3, 10))) for _ in range(_WORDS)]


def make_dataset(place: Path, episodes: int) -> None:
    """Write a dataset of so many attempts, two of five of which were not accepted."""
    random, words = Random(2), vocabulary()
    pages = [_page(random, words) for _ in range(_PAGES)]
    files = []
    for number, start in enumerate(range(0, episodes, _A_FILE)):
        stretch = range(start, min(start + _A_FILE, episodes))
        for config, rows in _rows(stretch, words, pages).items():
            hashed = content_hash([config, number])[:16]
            path = f"data/{config}/train-{number:05}-000-{hashed}.parquet"
            target = place / path
            target.parent.mkdir(parents=True, exist_ok=True)
            table = pa.Table.from_pylist(list(rows), schema=config_schema(config))
            pq.write_table(table, target, row_group_size=2_000, compression="zstd")
            data = target.read_bytes()
            files.append(
                PublishedFile(
                    path=path,
                    config=config,
                    split="train",
                    rows=table.num_rows,
                    bytes=len(data),
                    sha256=sha256_hex(data),
                    recipe=None,
                )
            )
    counts = dict.fromkeys(("episodes", "accepted", "trajectories", "tasks"), episodes)
    manifest = Manifest(
        run="0" * 32,
        version=1,
        rule=AcceptSection().model_dump(mode="json"),
        include_rejected=True,
        counts=Counts(rejected=0, unjudged=0, steps=episodes * STEPS, **counts),
        files=tuple(files),
    )
    (place / MANIFEST).write_bytes(manifest.to_bytes())


def _page(random: Random, words: list[str]) -> str:
    """Return the elements of a page."""
    return canonical_json(
        [
            {
                "role": "button",
                "name": " ".join(random.choices(words, k=2)),
                "tag": "button",
                "text": " ".join(random.choices(words, k=random.randint(1, 5))),
                "bbox": [random.randrange(900), random.randrange(600), 80, 20],
                "value": None,
                "interactive": True,
                "visible": 1.0,
                "covered": False,
                "frame": None,
            }
            for _ in range(40)
        ]
    )


def _rows(numbers: range, words: list[str], pages: list[str]) -> Mapping[str, Iterator[Row]]:
    return {
        "attempts": _episodes("attempts", numbers, words),
        "trajectories": _episodes("trajectories", numbers, words),
        "steps": _states("steps", numbers, words, pages),
        "observations": _states("observations", numbers, words, pages),
        "verdicts": _verdicts(numbers),
        "tasks": _tasks(numbers),
    }


def _own(common: Row, number: int) -> Row:
    row = own(common, number)
    kind = {"template_id": f"kind-{number % 100}/find"} if "template_id" in row else {}
    return row | kind


def _episodes(config: str, numbers: range, words: list[str]) -> Iterator[Row]:
    common = row_of(config_schema(config)) | {
        "failure_kind": None,
        "failure_message": None,
        "policy_kind": "teacher",
        "stop_reason": "answered",
        "split": "train",
        "assurance": "none",
        "replay": None,
        "capsule": "{}",
        "sampling": "{}",
        "delta": None,
        "tries": None,
        "blocked": None,
    }
    common = {name: value for name, value in common.items() if name in config_schema(config).names}
    for number in numbers:
        random = Random(number)
        accepted = number % 5 not in (1, 3)
        more: Row = {
            "status": "accepted" if accepted else "rejected",
            "accepted": accepted,
            "success": accepted,
            "rejected_because": [] if accepted else ["outcome: failed: not done"],
            "deciding_reason": None if accepted else "outcome: failed: not done",
            "instruction": " ".join(random.choices(words, k=12)),
            "n_steps": STEPS - 1,
        }
        yield _own(common, number) | {k: v for k, v in more.items() if k in common}


def _states(config: str, numbers: range, words: list[str], pages: list[str]) -> Iterator[Row]:
    common = row_of(config_schema(config)) | {"sights": None}
    none = dict.fromkeys(
        ("action_error", "result_text", "downloads", "delta", "dialog", "injected_mistake", "tabs")
    )
    plain = none | {
        "actor": "agent",
        "thought_source": "policy",
        "label": None,
        "target_bbox": None,
    }
    common = {k: v for k, v in (common | plain).items() if k in config_schema(config).names}
    for number in numbers:
        random = Random(number)
        for step in range(STEPS):
            last = step == STEPS - 1
            action = {"type": "none"} if last else {"type": "click", "x": 5, "y": 5}
            more: Row = {
                "step": step,
                "thought": " ".join(random.choices(words, k=25)),
                "title": " ".join(random.choices(words, k=4)),
                "action": canonical_json(action),
                "action_type": action["type"],
                "screenshot": {"bytes": random.randbytes(4_000), "path": "x.jpg"},
                "elements": pages[(number * 7 + step) % len(pages)],
            }
            yield _own(common, number) | {k: v for k, v in more.items() if k in common}


def _verdicts(numbers: range) -> Iterator[Row]:
    common = row_of(config_schema("verdicts")) | {"status": "passed", "evidence": "{}"}
    for number in numbers:
        for place, name in enumerate(("structure", "outcome", "replay")):
            yield _own(common, number) | {"verifier": name, "round": place}


def _tasks(numbers: range) -> Iterator[Row]:
    common = row_of(config_schema("tasks"))
    plain = dict.fromkeys(("expect", "files", "page", "reference", "rubric", "user", "fault"))
    for number in numbers:
        yield _own(common | plain | {"parameters": "{}", "tags": []}, number)


if __name__ == "__main__":
    sys.exit(main())
