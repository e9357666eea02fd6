"""Reads answers for NeMo Gym by its own schemas: `python read_nemo_gym.py WHEEL ANSWER.json …`.

NeMo Gym wants Python 3.12, which is not asked for here: the modules of its schemas load without, where what they only
import for servers is left out. It prints how many answers it read.
"""

import importlib
import json
import sys
import types
from pathlib import Path

LEFT_OUT = ("ray", "wandb", "wandb.util", "yappi", "gprof2dot", "pydot")
"""What the schemas do not use."""


class Absent(types.ModuleType):
    """A module of which only names are asked for."""

    __version__ = "0"
    __path__: list[str] = []  # noqa: RUF012 - a package without folders

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def main() -> None:
    sys.path.insert(0, sys.argv[1])
    for name in LEFT_OUT:
        sys.modules[name] = Absent(name)
    schemas = importlib.import_module("nemo_gym.base_resources_server")
    words = importlib.import_module("nemo_gym.openai_utils")
    read = 0
    for name in sys.argv[2:]:
        answer = json.loads(Path(name).read_text(encoding="utf-8"))
        seen = schemas.BaseVerifyResponse.model_validate(answer)
        assert seen.reward == answer["reward"]
        for item, told in zip(seen.response.output, answer["response"]["output"], strict=True):
            assert isinstance(item, words.NeMoGymResponseOutputMessageForTraining), type(item)
            assert item.generation_token_ids == told["generation_token_ids"]
            assert item.generation_log_probs == told["generation_log_probs"]
        schemas.BaseRunRequest.model_validate({"responses_create_params": {"input": []}})
        read += 1
    sys.stdout.write(f"{json.dumps({'read': read})}\n")


if __name__ == "__main__":
    main()
