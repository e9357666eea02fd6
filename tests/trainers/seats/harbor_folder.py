"""An environment of Harbor that is a folder of this machine: what would be in a container lies in it, and nothing is built.

Harbor names its places as `/tests`, `/solution` and `/logs`; here they are folders of the trial's own. It needs Harbor
and Python 3.12.
"""

import asyncio
import os
import re
import shutil
import tempfile
from pathlib import Path

from harbor.environments.base import BaseEnvironment, ExecResult

PLACES = re.compile(r"(?<![\w./-])/(?=(logs|tests|solution)\b)")


class FolderEnvironment(BaseEnvironment):
    """A container's place, taken by a folder."""

    def _place(self, path: object) -> Path:
        return Path(PLACES.sub(f"{self.root}/", str(path)))

    @staticmethod
    def type() -> str:
        return "folder"

    def _validate_definition(self) -> None:
        assert (self.environment_dir / "Dockerfile").is_file()

    async def start(self, force_build: bool) -> None:  # noqa: FBT001, ARG002 - as Harbor asks
        self.root = Path(tempfile.mkdtemp())
        for name in ("bin", "logs/agent", "logs/verifier", "logs/artifacts"):
            (self.root / name).mkdir(parents=True)
        shutil.copytree(self.environment_dir, self.root / "opt/stepmill")
        (self.root / "bin/seat").symlink_to(self.root / "opt/stepmill/seat.py")

    async def stop(self, delete: bool) -> None:  # noqa: FBT001, ARG002 - as Harbor asks
        shutil.rmtree(self.root)

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        shutil.copy(source_path, self._place(target_path))

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        shutil.copytree(source_dir, self._place(target_dir), dirs_exist_ok=True)

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        shutil.copy(self._place(source_path), target_path)

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        shutil.copytree(self._place(source_dir), target_dir, dirs_exist_ok=True)

    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,  # noqa: ARG002 - there is one
    ) -> ExecResult:
        told = {
            "PATH": f"{self.root}/bin:{os.environ['PATH']}",
            "STEPMILL_STATE": f"{self.root}/state",
            "VERIFIER_LOGS": f"{self.root}/logs/verifier",
            **(self._merge_env(env) or {}),
        }
        process = await asyncio.create_subprocess_exec(
            *("bash", "-c", PLACES.sub(f"{self.root}/", command)),
            cwd=cwd or self.root,
            env=told,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(timeout_sec):
            out, err = await process.communicate()
        return ExecResult(
            stdout=out.decode(), stderr=err.decode(), return_code=process.returncode or 0
        )
