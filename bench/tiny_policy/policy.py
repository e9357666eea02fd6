"""A causal language model of less than a million parameters, made here, and its tokenizer.

Run by the Python of an environment with TRL. Nothing is downloaded: the tokenizer is made over the texts that the
model is warmed on, and the weights are drawn.
"""

import math
import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch  # type: ignore[import-not-found,unused-ignore]
from tokenizers import (  # type: ignore[import-not-found,unused-ignore]
    Tokenizer,
    models,
    pre_tokenizers,
    trainers,
)
from transformers import (  # type: ignore[import-not-found,unused-ignore]
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

from bench.tiny_policy.texts import END, SPECIAL

WIDTH, LAYERS, HEADS, VOCABULARY = 64, 2, 4, 500
MAX_TOKENS = 1024
"""Of an episode: its pages and its replies."""

REPLY_TOKENS = 3
"""The maximum number of tokens of a reply."""

BATCH, LEARNING_RATE, WARM_UP = 16, 2e-3, 20


class Row(NamedTuple):
    """A reply to learn."""

    prompt: str
    """The pages and replies before it."""
    reply: str
    """The reply."""


def make_tokenizer(texts: Sequence[str]) -> PreTrainedTokenizerFast:
    """Return a tokenizer whose pieces are the frequent ones of some texts."""
    tokenizer = Tokenizer(models.BPE())
    bytes_of_words = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), bytes_of_words])
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=SPECIAL[0], eos_token=END, padding_side="left"
    )


def make_model(tokenizer: PreTrainedTokenizerFast, seed: int) -> LlamaForCausalLM:
    """Return a model with weights at random."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=WIDTH,
        intermediate_size=3 * WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=HEADS,
        max_position_embeddings=MAX_TOKENS,
        tie_word_embeddings=True,
        initializer_range=0.05,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    return LlamaForCausalLM(config)


def warm(
    model: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    rows: Sequence[Row],
    *,
    epochs: int,
    seed: int,
) -> float:
    """Learn the replies of rows, and return the mean loss of the last epoch."""
    order = random.Random(seed)
    learnt = [(tokenizer.encode(row.prompt), tokenizer.encode(row.reply)) for row in rows]
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=0.1)
    steps = epochs * math.ceil(len(learnt) / BATCH)
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda done: min(1.0, (done + 1) / WARM_UP) * (1 - 0.9 * done / steps)
    )
    model.train()
    losses: list[float] = []
    for _ in range(epochs):
        order.shuffle(learnt)
        losses = []
        for begin in range(0, len(learnt), BATCH):
            loss = model(**_batch(learnt[begin : begin + BATCH], model.config.pad_token_id)).loss
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            rate.step()
            losses.append(loss.item())
    return sum(losses) / len(losses)


def _batch(rows: Sequence[tuple[list[int], list[int]]], pad: int) -> dict[str, Any]:
    length = max(len(prompt) + len(reply) for prompt, reply in rows)
    tokens = torch.full((len(rows), length), pad)
    labels = torch.full((len(rows), length), -100)
    seen = torch.zeros((len(rows), length), dtype=torch.long)
    for row, (prompt, reply) in enumerate(rows):
        end = len(prompt) + len(reply)
        tokens[row, :end] = torch.tensor(prompt + reply)
        labels[row, len(prompt) : end] = torch.tensor(reply)
        seen[row, :end] = 1
    return {"input_ids": tokens, "labels": labels, "attention_mask": seen}


class Reply(NamedTuple):
    """A reply of the model."""

    tokens: list[int]
    """Its tokens."""
    logprobs: list[float]
    """The logarithm of each one's probability."""
    text: str
    """What they say."""


@torch.no_grad()  # type: ignore[untyped-decorator,unused-ignore]
def write_reply(
    model: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    tokens: Sequence[int],
    chance: torch.Generator | None,
) -> Reply:
    """Return a reply under a prompt, drawn by chance, or the likeliest tokens without."""
    written: list[int] = []
    logprobs: list[float] = []
    past, given = None, torch.tensor([list(tokens)])
    while len(written) < REPLY_TOKENS and tokenizer.eos_token_id not in written:
        out = model(input_ids=given, past_key_values=past, use_cache=True)
        past, odds = out.past_key_values, out.logits[0, -1].log_softmax(-1)
        token = int(
            odds.argmax() if chance is None else torch.multinomial(odds.exp(), 1, generator=chance)
        )
        written.append(token)
        logprobs.append(float(odds[token]))
        given = torch.tensor([[token]])
    return Reply(written, logprobs, tokenizer.decode(written))
