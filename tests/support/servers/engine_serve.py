"""`stepmill engine serve` as people run it, with the configuration for a laptop."""

import json
import subprocess
import threading
import tomllib
from collections.abc import Sequence
from typing import IO

import psutil
from source_tree import ROOT
from support.runs.commands import STEPMILL, environment

CONFIG = "configs/laptop-vllm.toml"


class Serving:
    """A running `stepmill engine serve`: what it said, and all processes it ever had."""

    def __init__(self, *arguments: str, settings: Sequence[str] = ()) -> None:
        """Serve with these arguments of vLLM beside those of the configuration, and further settings, as `KEY=VALUE`."""
        config = tomllib.loads((ROOT / CONFIG).read_text(encoding="utf-8"))
        given = f"--set=engine.args={json.dumps([*config['engine']['args'], *arguments])}"
        flags = [f"--set={setting}" for setting in settings]
        self.process = subprocess.Popen(
            [*STEPMILL, "engine", "serve", "--json", "--config", CONFIG, given, *flags],
            cwd=ROOT,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self._out: IO[str] = self.process.stdout
        self.said: list[str] = []
        self._reader = threading.Thread(target=self._read, args=(self.process.stderr,))
        self._reader.start()

    def _read(self, stream: IO[str]) -> None:
        self.said.extend(line.rstrip() for line in stream)

    def __contains__(self, words: str) -> bool:
        return any(words in line for line in list(self.said))

    def hears(self, words: str) -> None:
        """Wait until it says `words`."""
        while words not in self:
            assert self.process.poll() is None, "\n".join(self.said)
            self._reader.join(0.1)

    def url(self) -> str:
        """Wait until it serves; return where."""
        line = self._out.readline()
        assert line, "\n".join(self.said)
        url: str = json.loads(line)["url"]
        return url

    def processes(self) -> list[psutil.Process]:
        """Return what it has started: the tie, vLLM's server, its engine and its worker."""
        return psutil.Process(self.process.pid).children(recursive=True)

    def end(self) -> None:
        """Kill it, if nobody ended it, and hear it out."""
        self.process.kill()
        self.process.wait()
        self._reader.join()
        self._out.close()
        if self.process.stderr is not None:
            self.process.stderr.close()
