"""What the local Hub holds: repositories with their commits, buckets, and whose token may do what.

Commits are whole: each has all files of its revision. A commit that names another parent than
the branch's head is refused, as is one that names a large file nobody uploaded, or one that would
take its owner over the quota. Nothing here knows HTTP; what is refused is a `Refused`.
"""

import base64
import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from hub.xet import Cas

LARGE_SUFFIXES = {".parquet", ".arrow", ".jpg", ".png", ".bin", ".zst"}
LARGE_BYTES = 10_000_000
MAIN = "main"


class Refused(Exception):
    """An answer that says no."""

    def __init__(self, status: int, message: str, code: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code


@dataclass(frozen=True)
class Account:
    """Whose a token is, and what it is good for."""

    name: str
    orgs: tuple[str, ...] = ()
    role: str = "write"
    writes: tuple[str, ...] = ()
    """Owners and repositories a fine-grained token may write to."""

    def may_write(self, repo: str, kind: str = "datasets") -> bool:
        owner = repo.partition("/")[0]
        if self.role == "fineGrained":
            return bool({owner, f"{kind}/{repo}"} & {*self.writes})
        return self.role == "write" and owner in (self.name, *self.orgs)

    def may_read(self, repo: str) -> bool:
        return repo.partition("/")[0] in (self.name, *self.orgs)


@dataclass(frozen=True)
class File:
    size: int
    sha256: str
    git: str
    large: bool
    xet: str | None = None


@dataclass(frozen=True)
class Commit:
    oid: str
    title: str
    when: datetime
    files: Mapping[str, File]


@dataclass
class Repo:
    name: str
    private: bool
    gated: str | bool = False
    commits: list[Commit] = field(default_factory=list)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    def at(self, revision: str) -> Commit:
        """Return the commit that a branch, a tag or an id names."""
        oid = self.branches.get(revision) or self.tags.get(revision) or revision
        for commit in self.commits:
            if commit.oid == oid:
                return commit
        raise Refused(404, f"Invalid rev id: {revision}", "RevisionNotFound")


@dataclass(frozen=True)
class BucketEntry:
    size: int
    xet: str
    mtime: datetime
    uploaded: datetime


@dataclass
class Bucket:
    name: str
    private: bool
    made: datetime
    files: dict[str, BucketEntry] = field(default_factory=dict)
    failing: dict[str, int] = field(default_factory=dict)
    """How often an operation on a path fails, by a word of the path."""

    def fails(self, path: str) -> bool:
        """Tell whether an operation on a path fails this time."""
        for word, times in self.failing.items():
            if word in path and times:
                self.failing[word] -= 1
                return True
        return False


class State:
    """Repositories, buckets, their files' bytes, and accounts."""

    def __init__(self, folder: Path) -> None:
        self.cas = Cas(folder / "cas")
        self.blobs = folder / "blobs"
        self.blobs.mkdir(parents=True)
        self.accounts: dict[str, Account] = {}
        self.repos: dict[str, Repo] = {}
        self.buckets: dict[str, Bucket] = {}
        self.quota: int | None = None
        """The most bytes in a repository; None: any number."""
        self._lock = threading.RLock()

    def account(self, token: str | None) -> Account | None:
        if token is None:
            return None
        if token not in self.accounts:
            raise Refused(401, "Invalid credentials in Authorization header")
        return self.accounts[token]

    def readable(self, name: str, account: Account | None) -> Repo:
        """Return a repository; a private one is not there for others."""
        repo = self.repos.get(name)
        if repo is None or (repo.private and (account is None or not account.may_read(name))):
            raise Refused(404, "Repository not found", "RepoNotFound")
        return repo

    def writable(self, name: str, account: Account | None) -> Repo:
        repo = self.readable(name, account)
        if account is None:
            raise Refused(401, "Invalid username or password.")
        if not account.may_write(name):
            raise Refused(403, f"Forbidden: you don't have write access to {name}")
        return repo

    def create(self, name: str, account: Account | None, *, private: bool) -> None:
        _refuse_making("dataset", name, account)
        with self._lock:
            if name in self.repos:
                raise Refused(409, "You already created this dataset repo")
            attributes = b"*.parquet filter=lfs diff=lfs merge=lfs -text\n"
            files = {".gitattributes": self.keep(attributes)}
            first = _commit(f"create {name}", "initial commit", files)
            self.repos[name] = Repo(name, private, commits=[first], branches={MAIN: first.oid})

    def readable_bucket(self, name: str, account: Account | None) -> Bucket:
        """Return a bucket; a private one is not there for others."""
        bucket = self.buckets.get(name)
        if bucket is None or (bucket.private and (account is None or not account.may_read(name))):
            raise Refused(404, "Repository not found", "RepoNotFound")
        return bucket

    def writable_bucket(self, name: str, account: Account | None) -> Bucket:
        bucket = self.readable_bucket(name, account)
        if account is None:
            raise Refused(401, "Invalid username or password.")
        if not account.may_write(name, "buckets"):
            raise Refused(403, f"Forbidden: you don't have write access to {name}")
        return bucket

    def create_bucket(self, name: str, account: Account | None, *, private: bool) -> None:
        _refuse_making("bucket", name, account, "buckets")
        with self._lock:
            if name in self.buckets:
                raise Refused(409, "You already created this bucket")
            self.buckets[name] = Bucket(name, private, datetime.now(UTC))

    def change_bucket(
        self, bucket: Bucket, lines: Sequence[Mapping[str, Any]]
    ) -> list[dict[str, str]]:
        """Do what a batch's lines say, one by one; return those that failed, with why."""
        with self._lock:
            told = [(line["path"], self._change(bucket, line)) for line in lines]
        return [{"path": path, "error": why} for path, why in told if why]

    async def part_of_bucket(self, entry: BucketEntry, start: int, stop: int) -> bytes:
        """Return some of a file's bytes, put together from the CAS."""
        blob = self.blobs / f"xet-{entry.xet}"
        if not blob.exists():
            await self.cas.restore(entry.xet, entry.size, blob)
        with blob.open("rb") as opened:
            opened.seek(start)
            return opened.read(stop - start)

    def _change(self, bucket: Bucket, line: Mapping[str, Any]) -> str:
        """Do what a line says; return why it failed, if it did."""
        path, kind = line["path"], line["type"]
        if bucket.fails(path):
            return "injected"
        if kind == "deleteFile":
            return "" if bucket.files.pop(path, None) else "File not found"
        if kind != "addFile":
            return f"no such operation here: {kind}"
        size = self.cas.size(line["xetHash"])
        if size is None:
            return f"{line['xetHash']} was not uploaded"
        left = sum(entry.size for name, entry in bucket.files.items() if name != path)
        if self.quota is not None and left + size > self.quota:
            return "Private repository storage limit reached, please upgrade"
        mtime = datetime.fromtimestamp(line["mtime"] / 1_000, UTC)
        bucket.files[path] = BucketEntry(size, line["xetHash"], mtime, datetime.now(UTC))
        return ""

    def commit(self, repo: Repo, branch: str, lines: Sequence[Mapping[str, Any]]) -> str:
        """Commit what a request's lines say; return the head, which is old if nothing changes."""
        header = next(line["value"] for line in lines if line["key"] == "header")
        with self._lock:
            head = repo.at(branch)
            if header.get("parentCommit") not in (None, head.oid):
                raise Refused(412, "A commit has happened since. Please refresh and try again.")
            files = dict(head.files)
            for line in lines:
                self._apply(line["key"], line["value"], files)
            if self.quota is not None and sum(f.size for f in files.values()) > self.quota:
                raise Refused(403, "Private repository storage limit reached, please upgrade")
            if files == head.files:
                return head.oid
            made = _commit(head.oid, header["summary"], files)
            repo.commits.append(made)
            repo.branches[branch] = made.oid
            return made.oid

    def keep(self, data: bytes) -> File:
        """Keep a small file's bytes."""
        sha256 = hashlib.sha256(data).hexdigest()
        (self.blobs / sha256).write_bytes(data)
        return File(len(data), sha256, _git(data), large=False)

    def take(self, sha256: str, data: bytes) -> None:
        """Keep a large file's bytes."""
        if hashlib.sha256(data).hexdigest() != sha256:
            raise Refused(400, "these are other bytes")
        (self.blobs / sha256).write_bytes(data)

    async def part_of(self, file: File, start: int, stop: int) -> bytes:
        """Return some of a file's bytes, put together from the CAS where they lie there."""
        blob = self.blobs / file.sha256
        if not blob.exists() and file.xet is not None:
            await self.cas.restore(file.xet, file.size, blob)
        with blob.open("rb") as opened:
            opened.seek(start)
            return opened.read(stop - start)

    def _apply(self, key: str, value: Mapping[str, Any], files: dict[str, File]) -> None:
        if key == "file":
            files[value["path"]] = self.keep(base64.b64decode(value["content"]))
        elif key == "lfsFile":
            files[value["path"]] = self._large(value["oid"], value["size"])
        elif key == "deletedFile":
            if value["path"] not in files:
                raise Refused(404, "A file with this name doesn't exist", "EntryNotFound")
            del files[value["path"]]
        elif key != "header":
            raise Refused(400, f"no such operation here: {key}")

    def _large(self, sha256: str, size: int) -> File:
        xet = self.cas.find(sha256)
        if xet is None and not (self.blobs / sha256).exists():
            raise Refused(400, f"large file {sha256} was not uploaded")
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {size}\n"
        return File(size, sha256, _git(pointer.encode()), large=True, xet=xet)


def _refuse_making(what: str, name: str, account: Account | None, kind: str = "datasets") -> None:
    """Refuse an account that may not make something of a name."""
    if account is None:
        raise Refused(401, "Invalid username or password.")
    if not account.may_write(name, kind):
        owner = name.partition("/")[0]
        raise Refused(403, f"You don't have the rights to create a {what} under {owner}")


def is_large(path: str, size: int) -> bool:
    return size > LARGE_BYTES or PurePosixPath(path).suffix in LARGE_SUFFIXES


def _commit(parent: str, title: str, files: Mapping[str, File]) -> Commit:
    told = json.dumps([parent, title, sorted((path, f.sha256) for path, f in files.items())])
    oid = hashlib.sha1(told.encode(), usedforsecurity=False).hexdigest()
    return Commit(oid, title, datetime.now(UTC), files)


def _git(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
