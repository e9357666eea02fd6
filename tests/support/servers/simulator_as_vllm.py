"""The scripted engine behind vLLM's command line: `serve MODEL --host HOST --port PORT`.

It is asked with the key in VLLM_API_KEY where there is one, as vLLM is. With `--stuck FILE` its first start answers one
chat and lets every other hang, at 200 by its health check; the file remembers that it was started. With `--deadly
SESSION` its process dies of each request of that conversation, when others have had time to come.
"""

import argparse
import asyncio
import os
import signal
import sys
from pathlib import Path

from generators.engine.simulator.faults import Fault, FaultKind
from generators.engine.simulator.options import SimulatorOptions
from generators.engine.simulator.server import SimulatorServer


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("verb", choices=("serve",))
    parser.add_argument("model")
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--stuck", type=Path)
    parser.add_argument("--deadly", action="append", default=[])
    asked = parser.parse_args()
    faults: list[Fault] = []
    if asked.stuck is not None and not asked.stuck.exists():
        asked.stuck.touch()
        faults.append(Fault(kind=FaultKind.STUCK, after=1, times=-1))
    for session in asked.deadly:
        faults.append(Fault(kind=FaultKind.SLOW, seconds=0.3, times=-1, session=session))
        faults.append(Fault(kind=FaultKind.DEADLY, times=-1, session=session))
    options = SimulatorOptions(
        model=asked.model,
        api_key=os.environ.get("VLLM_API_KEY"),
        delay_ms=(200.0, 600.0) if asked.deadly else (0.0, 0.0),
    )
    ending = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ending.set)
    async with SimulatorServer(options, port=asked.port, faults=faults):
        sys.stderr.write("INFO Starting to load model\n")
        await ending.wait()


if __name__ == "__main__":
    asyncio.run(main())
