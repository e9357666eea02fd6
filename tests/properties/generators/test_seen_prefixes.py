"""No truthful cache serves more of a prompt than what is reckoned that it could, whatever is asked when."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from generators.engine.protocol import EnginePrompt, Message, Picture, Reply, Role
from generators.engine.simulator.chat import ChatRequest, ChatRole, ChatTurn
from generators.engine.simulator.pictures import PromptImage
from generators.engine.simulator.prefix_cache import BLOCK, Blocks, PrefixCache, blocks_of
from generators.engine.simulator.tokenizer import TokenizedPrompt, Tokenizer
from generators.policy.model.context_window import Budget, ContextWindow
from generators.policy.model.seen_prefixes import SeenPrefixes
from schemas.packed import TokenIds

SYSTEM = "You drive a browser, and answer with one object. " * 4
SIDE = 64
REPLY = '{"x":%d,"y":%d,"thought":"I press the button there, and look what comes."}'
REPAIR = Message(role=Role.USER, parts=("Your reply could not be read; reply again.",))


@dataclass
class Asked:
    """A request that the server has taken."""

    prompt: EnginePrompt
    tokens: TokenizedPrompt
    blocks: Blocks
    cached: int
    number: int
    reply: str
    is_repair: bool


@dataclass
class World:
    """One server, and the sessions that ask it."""

    ids: bool
    block: bool
    cache: PrefixCache = field(default_factory=lambda: PrefixCache(100_000))
    seen: SeenPrefixes = field(default_factory=SeenPrefixes)
    tokenizer: Tokenizer = field(default_factory=Tokenizer)
    under_way: list[int] = field(default_factory=list)
    sent: int = 0

    def send(self, messages: Sequence[Message], reply: str, *, is_repair: bool) -> Asked:
        """Have the server look a prompt up and keep it, as it does when its turn comes."""
        number = self.seen.begin()
        tokens = self.tokenizer.prompt(_chat(messages))
        blocks = blocks_of(tokens.keys)
        cached = self.cache.look_up(blocks)
        self.cache.keep(blocks)
        self.under_way.append(number)
        prompt = EnginePrompt(messages=tuple(messages))
        return Asked(prompt, tokens, blocks, cached, number, reply, is_repair)

    def answer(self, asked: Asked) -> None:
        """Let a reply arrive, and hold the figure against what was served."""
        said = self.tokenizer.ids(asked.reply)
        self.cache.keep(blocks_of(said, after=asked.blocks))
        reply = Reply(
            text=asked.reply,
            endpoint="a",
            prompt_tokens=len(asked.tokens.ids),
            prompt_token_ids=TokenIds(asked.tokens.ids) if self.ids else None,
            completion_token_ids=TokenIds(said) if self.ids else None,
            image_tokens=asked.tokens.image_tokens,
            block_tokens=BLOCK if self.block else None,
            total_ms=1.0,
        )
        self.under_way.remove(asked.number)
        alone = not any(number < asked.number for number in self.under_way)
        own = self.seen.cacheable_tokens(asked.prompt, reply, sent=asked.number)
        assert own is not None
        assert 0 <= own < len(asked.tokens.ids)
        if self.block or self.ids:
            assert own % BLOCK == 0
        if self.ids and alone:
            assert asked.cached <= own
        told = reply.model_copy(update={"cached_tokens": asked.cached})
        again = self.seen.cacheable_tokens(asked.prompt, told, sent=asked.number)
        assert again is not None
        assert asked.cached <= again


class Session:
    """One conversation: each step a picture, sometimes a repair turn, and evictions as they come."""

    def __init__(self, world: World, number: int) -> None:
        self._world = world
        self._number = number
        budget = Budget(keep_images=1, slack_images=2, tokens=900)
        self._window = ContextWindow(
            SYSTEM, f"Task {number % 2}.", image_placeholder="[an older picture]", budget=budget
        )
        self._step = 0
        self._asked: Asked | None = None

    def go_on(self, *, repairs: bool, same: bool) -> None:
        """Send the next request, or let the reply to the last one arrive."""
        asked, self._asked = self._asked, None
        if asked is None:
            self._asked = self._observe(same=same)
            return
        self._world.answer(asked)
        if repairs and not asked.is_repair:
            bad = Message(role=Role.ASSISTANT, parts=(asked.reply,))
            messages = (*asked.prompt.messages, bad, REPAIR)
            self._asked = self._world.send(messages, "{}", is_repair=True)
            return
        self._window.calibrate(len(asked.tokens.ids))
        self._window.append_reply(REPLY % (self._step, self._number))

    def _observe(self, *, same: bool) -> Asked:
        jpeg = b"blank" if same else f"{self._number}/{self._step}".encode()
        picture = Picture(jpeg=jpeg, step=self._step, width=SIDE, height=SIDE)
        self._window.append_observation(
            f"Step {self._step}.", picture, f"At page {self._step % 3}.", picture_tokens=6
        )
        self._step += 1
        reply = REPLY % (self._step, self._number)
        return self._world.send(self._window.messages, reply, is_repair=False)


def _chat(messages: Sequence[Message]) -> ChatRequest:
    turns = [
        ChatTurn(
            ChatRole(message.role.value),
            tuple(_image(p) if isinstance(p, Picture) else p for p in message.parts),
        )
        for message in messages
    ]
    return ChatRequest(model="scripted", turns=tuple(turns))


def _image(picture: Picture) -> PromptImage:
    digest = hashlib.sha256(picture.jpeg).hexdigest()
    return PromptImage("", digest, picture.width, picture.height)


MOVES = st.lists(
    st.tuples(st.integers(0, 3), st.booleans(), st.booleans()), min_size=10, max_size=60
)


@given(moves=MOVES, ids=st.booleans(), block=st.booleans())
def test_a_truthful_cache_serves_no_more_than_is_reckoned(
    moves: list[tuple[int, bool, bool]],
    ids: bool,  # noqa: FBT001
    block: bool,  # noqa: FBT001
) -> None:
    world = World(ids=ids, block=block)
    sessions = [Session(world, number) for number in range(4)]
    for number, repairs, same in moves:
        sessions[number].go_on(repairs=repairs, same=same)


def test_a_first_call_could_be_served_the_common_system_prompt() -> None:
    world = World(ids=True, block=True)
    one = world.send(
        (Message(role=Role.SYSTEM, parts=(SYSTEM,)), Message(role=Role.USER, parts=("One.",))),
        "{}",
        is_repair=False,
    )
    other = world.send(
        (Message(role=Role.SYSTEM, parts=(SYSTEM,)), Message(role=Role.USER, parts=("Two.",))),
        "{}",
        is_repair=False,
    )
    system = len(world.tokenizer.ids(SYSTEM)) // BLOCK * BLOCK

    assert one.cached == 0
    assert other.cached >= system - BLOCK > 0
    world.answer(one)
    world.answer(other)
