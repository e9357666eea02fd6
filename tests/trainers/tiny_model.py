"""A model of Qwen2-VL's kind, small enough for a test: made by the classes of a trainer's transformers.

Run by the Python of a trainer's environment: `python tiny_model.py MODEL_DIR`. The folder holds what
trainers load a model from: weights at random, a tokenizer with the family's special tokens, a processor
of pictures and a chat template. Nothing is downloaded.
"""

import json
import sys
from pathlib import Path

from tokenizers import (  # type: ignore[import-not-found,unused-ignore]
    Tokenizer,
    decoders,
    models,
    pre_tokenizers,
    trainers,
)

IMAGE = "<|image_pad|>"
END_OF_TURN = "<|im_end|>"
SPECIAL = [
    "<|endoftext|>",
    "<|im_start|>",
    END_OF_TURN,
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
    IMAGE,
    "<|video_pad|>",
]
TOKENIZER_CONFIG = {
    "tokenizer_class": "Qwen2TokenizerFast",
    "eos_token": END_OF_TURN,
    "pad_token": "<|endoftext|>",
    "clean_up_tokenization_spaces": False,
    "additional_special_tokens": SPECIAL,
    "model_max_length": 32768,
}
WORDS = 4000
"""The size of the vocabulary: the prompts of a rollout become 2 to 4 thousand tokens."""
MOST_PIXELS = 28 * 28 * 24
"""Of a picture: it becomes 24 tokens at most, so that a test has few to compute."""

# As Qwen's own: a turn is the same tokens alone as in a conversation, a line break belongs to its end, and
# a part is a picture that has a key of one, even an empty one.
CHAT_TEMPLATE = """\
{%- for message in messages -%}
{{- '<|im_start|>' + message['role'] + '\n' -}}
{%- if message['content'] is string -%}
{{- message['content'] -}}
{%- else -%}
{%- for part in message['content'] -%}
{{- '<|vision_start|><|image_pad|><|vision_end|>' if part['type'] == 'image' or 'image' in part or 'image_url' in part else part['text'] -}}
{%- endfor -%}
{%- endif -%}
{{- '<|im_end|>\n' -}}
{%- endfor -%}
{{- '<|im_start|>assistant\n' if add_generation_prompt else '' -}}
"""


def tokenizer_json() -> str:
    """Return a tokenizer of bytes and of frequent English pieces, which keeps every text as it is."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=WORDS,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    pages = sorted((Path(__file__).resolve().parents[2] / "docs").glob("*.md"))
    tokenizer.train_from_iterator((page.read_text(encoding="utf-8") for page in pages), trainer)
    return str(tokenizer.to_str())


def make(folder: Path) -> None:
    """Write the model into a folder."""
    import torch  # type: ignore[import-not-found]  # noqa: PLC0415
    from transformers import (  # type: ignore[import-not-found]  # noqa: PLC0415
        Qwen2TokenizerFast,
        Qwen2VLConfig,
        Qwen2VLForConditionalGeneration,
        Qwen2VLImageProcessor,
        Qwen2VLProcessor,
        Qwen2VLVideoProcessor,
    )

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(tokenizer_json(), encoding="utf-8")
    ids = {token: number for number, token in enumerate(SPECIAL)}
    settings = json.dumps(TOKENIZER_CONFIG)
    (folder / "tokenizer_config.json").write_text(settings, encoding="utf-8")
    tokenizer = Qwen2TokenizerFast.from_pretrained(folder)
    size = {"shortest_edge": 28 * 28 * 4, "longest_edge": MOST_PIXELS}
    Qwen2VLProcessor(
        image_processor=Qwen2VLImageProcessor(size=size),
        tokenizer=tokenizer,
        video_processor=Qwen2VLVideoProcessor(size=size),
        chat_template=CHAT_TEMPLATE,
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = Qwen2VLConfig(
        text_config={
            "vocab_size": WORDS,
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "max_position_embeddings": 32768,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 1_000_000.0,
                "mrope_section": [2, 3, 3],
            },
            "rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3]},
            "bos_token_id": ids["<|endoftext|>"],
            "eos_token_id": ids[END_OF_TURN],
            "pad_token_id": ids["<|endoftext|>"],
        },
        vision_config={"depth": 1, "embed_dim": 32, "num_heads": 2, "hidden_size": 64},
        image_token_id=ids[IMAGE],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
        tie_word_embeddings=True,
    )
    model = Qwen2VLForConditionalGeneration(config)
    model.generation_config.eos_token_id = ids[END_OF_TURN]
    model.save_pretrained(folder)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
