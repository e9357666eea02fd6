"""What the calls of running episodes keep in memory: token ids, messages and pictures, and ids on disk.

128 sessions of 40 steps ask for a reply to 8,000 prompt tokens, without a server: an answer is made as
bytes and read by the client's own parser, a prompt comes from the window that policies use and is encoded
for each request, and each call is recorded as it is in a run. Each session's beginning is its own, and its
last 2,000 tokens are new in each step. All sessions are kept to the end, as a run keeps those whose
unit is not committed, and the whole history of each in JPEGs of about 100 kB. Two lines are held:

* the process grows by at most 900 MB, its pictures included;
* a token id takes at most 6 bytes in the Parquet files of `calls`.
"""

import argparse
import asyncio
import gc
import io
import json
import sys
from random import Random

import psutil
import pyarrow.parquet as pq

from bench.client import HEIGHT, WIDTH, screenshots
from bench.measuring.result import report
from generators.engine.client.request_body import RequestBody, ServerQuirks
from generators.engine.client.response import read_completion
from generators.engine.protocol import EngineCard, EnginePrompt, Picture, Reply, Sampling
from generators.engine.stopwatch import Stopwatch
from generators.policy.dialects.protocol import Rationale
from generators.policy.model.context_window import Budget, ContextWindow
from generators.policy.model.model_call import RecordedEngine
from generators.policy.model.model_config import ModelConfig
from generators.policy.model.setup import EngineSet, ModelConfigs
from generators.policy.model.try_account import Account
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import (
    EngineKind,
    EngineSection,
    LogprobsMode,
    PolicyName,
    PolicySection,
)
from schemas.episodes.action import Click
from schemas.episodes.observation import PageState
from schemas.tables.tables import arrow_schema, to_row
from storage.lake.parquet_writer import ParquetWriter

MAX_GROWTH_MB = 900.0
MAX_ID_BYTES = 6.0
SESSIONS, STEPS, PROMPT_TOKENS, NEW_TOKENS, REPLY_TOKENS = 128, 40, 8_000, 2_000, 128
VOCABULARY = 151_936
PAGE = PageState(url="http://shop.localhost/items?page=3", title="Items", scroll_x=0, scroll_y=0)
IDS = ("prompt_token_ids", "completion_token_ids")


class MadeUpEngine:
    """An `Engine` that answers at once with the bytes of a server's answer, read as a client reads them."""

    def __init__(self) -> None:
        self.card = EngineCard(model="made-up", product="vllm")

    def hear(self, reply: Reply, *, session: str, cacheable_tokens: int | None) -> None:
        """Take no notice: any number of conversations may live."""

    async def reply(
        self,
        prompt: EnginePrompt,
        sampling: Sampling,
        *,
        session: str,
        stopwatch: Stopwatch | None = None,
    ) -> Reply:
        """Encode the prompt as a client does, and return a reply with ids and log-probabilities."""
        del stopwatch
        RequestBody(prompt, sampling, model="made-up").encode(ServerQuirks(token_ids=True))
        begins = _beginning(session)
        step = f"{session}/{len(prompt.messages)}/{prompt.messages[-1].parts[-1]}"
        drawn = Random(step).choices(range(VOCABULARY), k=NEW_TOKENS + REPLY_TOKENS)
        done = read_completion(_answer([*begins, *drawn[REPLY_TOKENS:]], drawn[:REPLY_TOKENS]))
        return Reply(
            text=done.text,
            finish_reason=done.finish_reason,
            endpoint="http://127.0.0.1:1/v1",
            prompt_tokens=done.prompt_tokens,
            completion_tokens=done.completion_tokens,
            prompt_token_ids=done.prompt_token_ids,
            completion_token_ids=done.completion_token_ids,
            completion_logprobs=done.completion_logprobs,
            total_ms=1.0,
        )


def _beginning(session: str) -> list[int]:
    return Random(session).choices(range(VOCABULARY), k=PROMPT_TOKENS - NEW_TOKENS)


def _answer(prompt: list[int], reply: list[int]) -> bytes:
    tokens = [{"token": "a", "logprob": -(token % 1_000) / 997} for token in reply]
    choice = {
        "message": {"role": "assistant", "content": "I click the button. " * 20},
        "finish_reason": "stop",
        "token_ids": reply,
        "logprobs": {"content": tokens},
    }
    usage = {"prompt_tokens": len(prompt), "completion_tokens": len(reply)}
    answer = {"choices": [choice], "prompt_token_ids": prompt, "usage": usage}
    return json.dumps(answer).encode()


class Session:
    """One episode: its window, its calls, and every picture that it took."""

    def __init__(self, number: int, model: ModelConfig, budget: Budget) -> None:
        self._model = model
        self.account = Account()
        self._engine = RecordedEngine(model, self.account, session=f"session-{number}")
        self._pictures: list[Picture] = []
        self._window = ContextWindow(
            model.prompt.text,
            model.dialect.task_message(f"Find item {number}."),
            image_placeholder=model.dialect.image_placeholder,
            budget=budget,
        )

    @property
    def picture_bytes(self) -> int:
        """Bytes of the JPEGs of all its steps."""
        return sum(len(picture.jpeg) for picture in self._pictures)

    async def take_step(self, jpeg: bytes) -> None:
        """Show a picture that nobody else has, ask, and write down the reply."""
        dialect, step = self._model.dialect, len(self._pictures)
        picture = Picture(jpeg=bytes(bytearray(jpeg)), step=step, width=WIDTH, height=HEIGHT)
        self._pictures.append(picture)
        before, after = dialect.observation_text(step, PAGE)
        self._window.append_observation(before, picture, after, picture_tokens=500)
        await self._engine.ask(
            self._window.messages, step=step, role="policy", segment=self._window.segment
        )
        rationale = Rationale(thought=f"I open the next page, because item {step} is not here.")
        self._window.append_reply(
            dialect.format_action(Click(x=4, y=4), self._model.frame, rationale)
        )


def resident_mb() -> float:
    """Return what this process has in memory now."""
    gc.collect()
    return psutil.Process().memory_info().rss / 1e6


async def converse(sessions: int, steps: int) -> tuple[list[Session], float]:
    """Return the sessions after all steps, and by how many MB the process grew."""
    section = PolicySection(name=PolicyName.MODEL, logprobs=LogprobsMode.RAW)
    engine = EngineSection(kind=EngineKind.OPENAI, urls=("http://127.0.0.1:1/v1",))
    config = RunConfig(policies=(section,), engine=engine)
    models = ModelConfigs(config, EngineSet(MadeUpEngine())).of(section)
    budget = Budget(keep_images=section.keep_images, slack_images=section.slack_images, tokens=None)
    shots = screenshots(16)
    await Session(sessions, models.model, budget).take_step(shots[0])
    before = resident_mb()
    going = [Session(number, models.model, budget) for number in range(sessions)]
    for step in range(steps):
        for number, session in enumerate(going):
            await session.take_step(shots[(number + step) % len(shots)])
    return going, resident_mb() - before


def stored_id_bytes(sessions: list[Session]) -> float:
    """Return the bytes that an id takes in a Parquet file of the sessions' calls."""
    writer = ParquetWriter(arrow_schema("calls"), shard_bytes=1 << 30)
    for number, session in enumerate(sessions):
        owner = {"episode_id": f"e{number}", "unit_id": "u"}
        writer.write([owner | to_row(call) for call in session.account.calls])
    shards = [shard for shard in [writer.close()] if shard is not None]
    files = [pq.ParquetFile(io.BytesIO(shard.data)).metadata for shard in shards]
    groups = [told.row_group(number) for told in files for number in range(told.num_row_groups)]
    columns = [group.column(place) for group in groups for place in range(group.num_columns)]
    own = [column for column in columns if column.path_in_schema.split(".")[0] in IDS]
    count = sum(
        len(getattr(call, name) or ())
        for session in sessions
        for call in session.account.calls
        for name in IDS
    )
    return sum(column.total_compressed_size for column in own) / count


def main() -> int:
    """Run the benchmark; the exit status says whether every line is held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=SESSIONS)
    parser.add_argument("--steps", type=int, default=STEPS)
    arguments = parser.parse_args()
    sessions, grown = asyncio.run(converse(arguments.sessions, arguments.steps))
    id_bytes = stored_id_bytes(sessions[:8])
    held = grown <= MAX_GROWTH_MB and id_bytes <= MAX_ID_BYTES
    figures = {
        "bench": "memory",
        "sessions": arguments.sessions,
        "steps": arguments.steps,
        "prompt_tokens": PROMPT_TOKENS,
        "picture_kb": round(len(screenshots(1)[0]) / 1e3),
        "pictures_mb": round(sum(session.picture_bytes for session in sessions) / 1e6),
        "grown_mb": round(grown),
        "max_grown_mb": MAX_GROWTH_MB,
        "id_bytes": round(id_bytes, 2),
        "max_id_bytes": MAX_ID_BYTES,
        "held": held,
    }
    report(figures)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
