"""A program that behaves like vLLM towards whoever starts and ends it, in no time.

It takes vLLM's arguments, writes lines of vLLM's log, answers `/health`, and has a worker that does
not end with it and hears no polite request. Its own flags say what goes wrong, and when.
"""

import argparse
import os
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

WORKER = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.pause()"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("verb", choices=("serve",))
    parser.add_argument("model")
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--max-num-seqs", type=int, default=1_024)
    parser.add_argument("--enable-prompt-tokens-details", action="store_true")
    parser.add_argument("--enable-per-request-metrics", action="store_true")
    parser.add_argument(
        "--lacks", help="do not know this flag, as an older version (in one piece: --lacks=FLAG)"
    )
    parser.add_argument("--fits", type=int, help="refuse more sequences than this")
    parser.add_argument("--refuse", help="die at once with this as the last line")
    parser.add_argument("--lives", type=Path, help="a file that counts the starts")
    parser.add_argument("--only-first", action="store_true", help="refuse, but not the first time")
    parser.add_argument("--broken-gpu", help="refuse only where this GPU is the one given")
    parser.add_argument(
        "--dies", type=Path, help="a file with the GPUs whose server does not start"
    )
    parser.add_argument("--hang", action="store_true", help="never serve, and say nothing")
    parser.add_argument("--status", type=Path, help="a file with the status of /health")
    parser.add_argument("--metrics", type=Path, help="a file with the page of /metrics")
    asked = parser.parse_args()
    first = _first(asked.lives)
    if asked.lacks in sys.argv:
        parser.error(f"unrecognized arguments: {asked.lacks}")
    _log(f"INFO Resolved architecture: {asked.model}")
    subprocess.Popen([sys.executable, "-c", WORKER])
    gpu = os.environ.get("CUDA_VISIBLE_DEVICES", "all")
    if asked.dies and asked.dies.exists() and gpu in asked.dies.read_text().split():
        _log("RuntimeError: out of memory")
        return 1
    if asked.refuse and not (asked.only_first and first) and asked.broken_gpu in (None, gpu):
        _log(f"ValueError: {asked.refuse}")
        _log("RuntimeError: engine core initialisation failed")
        return 1
    if asked.hang:
        signal.pause()
    if asked.fits and asked.max_num_seqs > asked.fits:
        said = f"({asked.max_num_seqs}) exceeds available Mamba cache blocks ({asked.fits})."
        _log(f"ValueError: max_num_seqs {said} Please lower max_num_seqs")
        return 1
    _log("INFO Starting to load model\nINFO Loading weights took 0.1 s")
    _serve(asked.host, asked.port, asked.status, asked.metrics)
    return 0


def _log(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _first(lives: Path | None) -> bool:
    if lives is None:
        return True
    before = lives.read_text() if lives.exists() else ""
    lives.write_text(f"{before}{os.getpid()}\n")
    return not before


def _serve(host: str, port: int, status: Path | None, metrics: Path | None) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = status.read_text() if status is not None and status.exists() else "200"
            if text == "silence":
                threading.Event().wait()
            if self.path == "/metrics":
                self.send_response(404 if metrics is None else 200)
                self.end_headers()
                self.wfile.write(b"" if metrics is None else metrics.read_bytes())
                return
            self.send_response(int(text))
            self.send_header("Visible", os.environ.get("CUDA_VISIBLE_DEVICES", "all"))
            self.end_headers()
            self.wfile.write(" ".join(sys.argv).encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
            _log(f"INFO {format % args}")

    server = ThreadingHTTPServer((host, port), Handler)
    server.daemon_threads = True
    server.serve_forever()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    sys.exit(main())
