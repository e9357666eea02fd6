"""The files of a checkpoint: what `config.json` and its neighbours say, and how they are written.

Servers know the architecture but not its configuration class, which comes with each checkpoint and
is loaded because the server is told to trust it. Ours says only which part is the language model.
Each file is written whole or not at all and `config.json` last, so that a folder with a
`config.json` has everything else too. Writing a checkpoint again changes no byte.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from support.checkpoints.nemotron_template import NEMOTRON_FILE, NEMOTRON_TEMPLATE
from support.checkpoints.shape import CheckpointShape
from support.checkpoints.tokenizer import (
    BEGIN_ID,
    CHAT_TEMPLATE,
    END,
    END_ID,
    PAD_ID,
    SPECIAL,
    tokenizer,
)
from support.checkpoints.weights import safetensors, tensors

from schemas.base import JsonObject
from schemas.errors import Unwritable

MODULE = "configuration_stepmill"
"""The module of a checkpoint that holds its configuration class."""

SOURCE = '''\
"""The configuration of a NemotronH_Nano_VL_V2 checkpoint that Stepmill made."""

from transformers import NemotronHConfig, PretrainedConfig


class StepmillVisionConfig(PretrainedConfig):
    model_type = "stepmill_vision"


class StepmillConfig(PretrainedConfig):
    model_type = "NemotronH_Nano_VL_V2"
    sub_configs = {"text_config": NemotronHConfig, "vision_config": StepmillVisionConfig}

    def __init__(self, text_config=None, vision_config=None, **others):
        self.text_config = NemotronHConfig(**(text_config or {}))
        self.vision_config = StepmillVisionConfig(**(vision_config or {}))
        super().__init__(**others)

    def get_text_config(self, *args, **kwargs):
        return self.text_config
'''
"""The module's text."""

_KINDS = {"M": "linear_attention", "-": "mlp", "*": "full_attention"}

_IDS: JsonObject = {"bos_token_id": BEGIN_ID, "eos_token_id": END_ID, "pad_token_id": PAD_ID}


def config(shape: CheckpointShape) -> JsonObject:
    """Return the `config.json`."""
    vision = shape.vision
    return {
        "architectures": ["NemotronH_Nano_VL_V2"],
        "model_type": "NemotronH_Nano_VL_V2",
        "auto_map": {"AutoConfig": f"{MODULE}.StepmillConfig"},
        "dtype": "bfloat16",
        "force_image_size": vision.tile,
        "patch_size": vision.patch,
        "downsample_ratio": 0.5,
        "use_thumbnail": True,
        "template": "nemotron",
        "ps_version": "v2",
        "image_tag_type": "internvl",
        "norm_mean": [0.48145466, 0.4578275, 0.40821073],
        "norm_std": [0.26862954, 0.26130258, 0.27577711],
        "vit_hidden_size": vision.hidden,
        "projector_hidden_size": vision.projector,
        "text_config": {
            "model_type": "nemotron_h",
            "architectures": ["NemotronHForCausalLM"],
            "dtype": "bfloat16",
            "vocab_size": shape.vocabulary,
            "hidden_size": shape.hidden,
            "layers_block_type": [_KINDS[kind] for kind in shape.layers],
            "intermediate_size": shape.ffn,
            "num_attention_heads": shape.heads,
            "num_key_value_heads": shape.kv_heads,
            "head_dim": shape.head_dim,
            "mamba_num_heads": shape.mamba_heads,
            "mamba_head_dim": shape.mamba_head_dim,
            "ssm_state_size": shape.state,
            "n_groups": shape.groups,
            "conv_kernel": shape.conv,
            "chunk_size": shape.chunk,
            "max_position_embeddings": shape.context,
            **_IDS,
        },
        "vision_config": {
            "patch_size": vision.patch,
            "preferred_resolution": [vision.tile, vision.tile],
            "args": {
                "model": vision.name,
                "cpe_max_size": vision.most_pixels,
                "register_multiple": vision.registers,
                "teachers": [{"name": "clip", "use_summary": True}],
                "cls_token_per_teacher": True,
            },
        },
        **_IDS,
    }


def write_checkpoint(folder: Path, shape: CheckpointShape, *, seed: int | None) -> None:
    """Write a checkpoint of a shape, with weights drawn from `seed`, or without any.

    Raises:
        Unwritable: the folder cannot be made or written, or its disk is full.
    """
    tokenizer_config: JsonObject = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": shape.context,
        "clean_up_tokenization_spaces": False,
        "unk_token": SPECIAL[PAD_ID],
        "pad_token": SPECIAL[PAD_ID],
        "bos_token": SPECIAL[BEGIN_ID],
        "eos_token": END,
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _put(folder / "tokenizer.json", _json(tokenizer(shape.vocabulary)))
        _put(folder / "tokenizer_config.json", _json(tokenizer_config))
        _put(folder / "generation_config.json", _json(_IDS))
        _put(folder / "chat_template.jinja", [CHAT_TEMPLATE.encode()])
        _put(folder / NEMOTRON_FILE, [NEMOTRON_TEMPLATE.encode()])
        _put(folder / f"{MODULE}.py", [SOURCE.encode()])
        if seed is not None:
            _put(folder / "model.safetensors", safetensors(tensors(shape), seed))
        _put(folder / "config.json", _json(config(shape)))
    except OSError as error:
        raise Unwritable(f"{folder}: cannot be written: {error.strerror or error}") from None


def _json(document: JsonObject) -> list[bytes]:
    return [json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n"]


def _put(path: Path, pieces: Iterable[bytes]) -> None:
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with unfinished.open("wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
