"""The scripted engine behind vLLM's command line: `serve MODEL --host HOST --port PORT`.

It is asked with the key in VLLM_API_KEY where there is one, as vLLM is.
"""

import argparse
import asyncio
import os
import signal
import sys

from generators.engine.simulator.options import SimulatorOptions
from generators.engine.simulator.server import SimulatorServer


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("verb", choices=("serve",))
    parser.add_argument("model")
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    asked = parser.parse_args()
    options = SimulatorOptions(model=asked.model, api_key=os.environ.get("VLLM_API_KEY"))
    ending = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ending.set)
    async with SimulatorServer(options, port=asked.port):
        sys.stderr.write("INFO Starting to load model\n")
        await ending.wait()


if __name__ == "__main__":
    asyncio.run(main())
