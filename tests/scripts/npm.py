"""The programs of npm that scripts and recordings are tested with, as `make test-scripts` installs them."""

import shutil
import subprocess
from pathlib import Path

from source_tree import ROOT

from scripts.running import script_environment

INSTALLED = ROOT / ".scripts"
"""Where they are installed; a script in TypeScript is run from within, where it finds its library."""

_PARSE = """
import { readFileSync } from "node:fs";
import { parse } from "@puppeteer/replay";
console.log(parse(JSON.parse(readFileSync(process.argv[1]))).steps.length);
"""


def run_typescript(
    script: Path, url: str, *, timeout_ms: int = 30_000
) -> subprocess.CompletedProcess[str]:
    """Run a script in TypeScript by Playwright's own runner."""
    folder = INSTALLED / "run" / script.parent.name
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(script, folder / script.name)
    config = INSTALLED / "playwright.config.ts"
    config.write_text('export default { reporter: "line", workers: 1 };\n', "utf-8")
    return subprocess.run(
        [
            *(INSTALLED / "node_modules/.bin/playwright", "test", "--config", config),
            *(f"{folder.name}/{script.name}", "--output", folder / f"{script.stem}.out"),
        ],
        cwd=INSTALLED,
        env=script_environment(url, timeout_ms=timeout_ms),
        capture_output=True,
        text=True,
        check=False,
    )


def count_steps(recording: Path) -> int:
    """Return how many steps `parse` of `@puppeteer/replay` finds in a recording, which it refuses if it is none."""
    run = subprocess.run(
        ["node", "--input-type=module", "-e", _PARSE, str(recording)],
        cwd=INSTALLED,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return int(run.stdout)


def chrome_recorder_script() -> str:
    """Return the script by which Chrome's Recorder listens to a page, bundled from the sources of its developer tools."""
    sources = INSTALLED / "node_modules/chrome-devtools-frontend/front_end/panels/recorder"
    return subprocess.run(
        [
            *(INSTALLED / "node_modules/.bin/esbuild", sources / "injected/injected.ts"),
            *("--bundle", "--format=iife", "--log-level=error"),
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
