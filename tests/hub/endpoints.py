"""What the local Hub answers to the requests of the real clients about dataset repositories.

Making one, uploads (LFS and Xet), commits with their parent, trees, texts, ranges of files,
branches, tags, and who one is: as the clients ask for it, no more.
"""

import json
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import unquote

from aiohttp import web
from hub.state import Account, Commit, File, Refused, Repo, State, is_large
from support.servers.read_ranges import Read

PAGE = 1_000
_FAR = 3_600


class Endpoints:
    """The requests that are answered."""

    def __init__(self, state: State, *, user: str, xet: bool) -> None:
        self.url = ""
        self.reads: list[Read] = []
        self._state = state
        self._user = user
        self._xet = xet

    def routes(self) -> Sequence[web.RouteDef]:
        api = "/api/datasets/{owner}/{name}"
        return [
            web.get("/api/whoami-v2", self._who),
            web.post("/api/validate-yaml", self._validate),
            web.post("/api/repos/create", self._create),
            web.get(api, self._info),
            web.get(api + "/revision/{revision}", self._info),
            web.put(api + "/settings", self._settings),
            web.post(api + "/preupload/{revision}", self._preupload),
            web.post(api + "/commit/{revision}", self._commit),
            web.get(api + "/commits/{revision}", self._commits),
            web.get(api + "/refs", self._refs),
            web.post(api + "/branch/{revision}", self._branch),
            web.post(api + "/tag/{revision}", self._tag),
            web.get(api + "/tree/{revision}", self._tree),
            web.get(api + "/tree/{revision}/{path:.*}", self._tree),
            web.post(api + "/paths-info/{revision}", self._paths),
            web.get(api + "/xet-{kind}-token/{revision}", self._xet_token),
            web.post("/datasets/{owner}/{name}.git/info/lfs/objects/batch", self._batch),
            web.put("/_lfs/{sha256}", self._upload),
            web.route("*", "/datasets/{owner}/{name}/resolve/{revision}/{path:.*}", self._resolve),
        ]

    def account(self, request: web.Request) -> Account | None:
        """Return whose token a request bears."""
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        return self._state.account(token) if kind == "Bearer" else None

    def _readable(self, request: web.Request) -> tuple[Repo, Commit]:
        repo = self._state.readable(name_of(request), self.account(request))
        return repo, repo.at(unquote(request.match_info.get("revision", "main")))

    def _writable(self, request: web.Request) -> Repo:
        return self._state.writable(name_of(request), self.account(request))

    async def _who(self, request: web.Request) -> web.Response:
        account = self.account(request)
        if account is None:
            raise Refused(401, "Invalid username or password.")
        token: dict[str, Any] = {"displayName": "test", "role": account.role}
        if account.role == "fineGrained":
            scoped = [
                {"entity": {"name": name}, "permissions": ["repo.content.read", "repo.write"]}
                for name in account.writes
            ]
            token["fineGrained"] = {"global": [], "scoped": scoped}
        orgs = [{"type": "org", "name": org} for org in account.orgs]
        told = {"type": "user", "name": account.name, "orgs": orgs, "auth": {"accessToken": token}}
        return web.json_response(told)

    async def _validate(self, request: web.Request) -> web.Response:
        content = (await request.json())["content"]
        fine = content.startswith("---\n") and 'license: "wtfpl"' not in content
        errors = [] if fine else [{"message": '"license" must be one of the known ones'}]
        status = 200 if fine else 400
        return web.json_response({"errors": errors, "warnings": []}, status=status)

    async def _create(self, request: web.Request) -> web.Response:
        told = await request.json()
        account = self.account(request)
        owner = told.get("organization") or (account.name if account else "")
        private = told.get("visibility") == "private" or bool(told.get("private"))
        name = f"{owner}/{told['name']}"
        url = f"{self.url}/datasets/{name}"
        try:
            self._state.create(name, account, private=private)
        except Refused as refused:
            if refused.status == 409:
                return web.json_response({"error": refused.message, "url": url}, status=409)
            raise
        return web.json_response({"url": url, "name": name, "id": name})

    async def _info(self, request: web.Request) -> web.Response:
        repo, commit = self._readable(request)
        when = moment(commit.when)
        return web.json_response(
            {
                "_id": "1",
                "id": repo.name,
                "author": repo.name.partition("/")[0],
                "sha": commit.oid,
                "lastModified": when,
                "createdAt": when,
                "private": repo.private,
                "gated": repo.gated,
                "disabled": False,
                "downloads": 0,
                "likes": 0,
                "tags": [],
                "siblings": [{"rfilename": path} for path in sorted(commit.files)],
            }
        )

    async def _settings(self, request: web.Request) -> web.Response:
        repo, told = self._writable(request), await request.json()
        repo.gated = told.get("gated", repo.gated)
        return web.json_response({})

    async def _preupload(self, request: web.Request) -> web.Response:
        self._writable(request)
        _, commit = self._readable(request)
        answers = []
        for told in (await request.json())["files"]:
            large, old = is_large(told["path"], told["size"]), commit.files.get(told["path"])
            oid = None if old is None else old.sha256 if old.large else old.git
            mode = "lfs" if large else "regular"
            answers.append(
                {"path": told["path"], "uploadMode": mode, "shouldIgnore": False, "oid": oid}
            )
        return web.json_response({"files": answers})

    async def _commit(self, request: web.Request) -> web.Response:
        repo = self._writable(request)
        lines = [json.loads(line) for line in (await request.read()).splitlines() if line]
        oid = self._state.commit(repo, unquote(request.match_info["revision"]), lines)
        url = f"{self.url}/datasets/{repo.name}/commit/{oid}"
        return web.json_response({"success": True, "commitOid": oid, "commitUrl": url})

    async def _commits(self, request: web.Request) -> web.Response:
        repo, _ = self._readable(request)
        return web.json_response(
            [
                {
                    "id": commit.oid,
                    "title": commit.title,
                    "message": "",
                    "authors": [{"user": self._user}],
                    "date": moment(commit.when),
                }
                for commit in reversed(repo.commits)
            ]
        )

    async def _refs(self, request: web.Request) -> web.Response:
        repo, _ = self._readable(request)

        def told(kind: str, refs: Mapping[str, str]) -> list[dict[str, str]]:
            return [
                {"name": name, "ref": f"refs/{kind}/{name}", "targetCommit": oid}
                for name, oid in refs.items()
            ]

        branches, tags = told("heads", repo.branches), told("tags", repo.tags)
        return web.json_response({"branches": branches, "tags": tags, "converts": []})

    async def _branch(self, request: web.Request) -> web.Response:
        repo, name = self._writable(request), unquote(request.match_info["revision"])
        if name in repo.branches:
            raise Refused(409, "Reference already exists")
        start = (await request.json()).get("startingPoint") or "main"
        repo.branches[name] = repo.at(start).oid
        return web.json_response({})

    async def _tag(self, request: web.Request) -> web.Response:
        repo, name = self._writable(request), (await request.json())["tag"]
        if name in repo.tags:
            raise Refused(409, "Tag reference exists already")
        repo.tags[name] = repo.at(unquote(request.match_info["revision"])).oid
        return web.json_response({})

    async def _tree(self, request: web.Request) -> web.Response:
        _, commit = self._readable(request)
        below = unquote(request.match_info.get("path", "")).strip("/")
        recursive = request.query.get("recursive", "").lower() in ("true", "1")
        found = [_told(path, file) for path, file in _below(commit, below, recursive=recursive)]
        if not found and below:
            raise Refused(404, "Entry not found", "EntryNotFound")
        start = int(request.query.get("cursor", "0"))
        headers = {}
        if start + PAGE < len(found):
            more = request.url.update_query(cursor=str(start + PAGE))
            headers["Link"] = f'<{more}>; rel="next"'
        return web.json_response(found[start : start + PAGE], headers=headers)

    async def _paths(self, request: web.Request) -> web.Response:
        _, commit = self._readable(request)
        if "json" in request.content_type:
            asked = await request.json()
            paths, expand = asked["paths"], asked.get("expand")
        else:
            form = await request.post()
            paths, expand = [str(path) for path in form.getall("paths", [])], form.get("expand")
        folders = {parent for path in commit.files for parent in _folders(path)}
        answers = [
            _told(path, commit.files.get(path))
            for path in paths
            if path in commit.files or path in folders
        ]
        if str(expand).lower() == "true":
            when = {"id": commit.oid, "title": commit.title, "date": moment(commit.when)}
            answers = [answer | {"lastCommit": when} for answer in answers]
        return web.json_response(answers)

    async def _xet_token(self, request: web.Request) -> web.Response:
        if request.match_info["kind"] == "write":
            self._writable(request)
        else:
            self._readable(request)
        return self.xet_token()

    def xet_token(self) -> web.Response:
        """Return the way to the store of chunks."""
        expires = int(time.time()) + _FAR
        told = {"casUrl": self._state.cas.url, "accessToken": "t", "exp": expires}
        headers = {
            "X-Xet-Cas-Url": self._state.cas.url,
            "X-Xet-Access-Token": "t",
            "X-Xet-Token-Expiration": str(expires),
        }
        return web.json_response(told, headers=headers)

    async def _batch(self, request: web.Request) -> web.Response:
        self._writable(request)
        answers = []
        for told in (await request.json())["objects"]:
            answer: dict[str, Any] = {"oid": told["oid"], "size": told["size"]}
            if not (self._state.blobs / told["oid"]).exists():
                answer["actions"] = {"upload": {"href": f"{self.url}/_lfs/{told['oid']}"}}
            answers.append(answer)
        return web.json_response({"transfer": "basic", "objects": answers})

    async def _upload(self, request: web.Request) -> web.Response:
        self._state.take(request.match_info["sha256"], await request.read())
        return web.json_response({})

    async def _resolve(self, request: web.Request) -> web.Response:
        repo, commit = self._readable(request)
        path = unquote(request.match_info["path"])
        file = commit.files.get(path)
        if file is None:
            raise Refused(404, "Entry not found", "EntryNotFound")
        headers = {
            "X-Repo-Commit": commit.oid,
            "ETag": f'"{file.sha256 if file.large else file.git}"',
            "Accept-Ranges": "bytes",
        }
        if file.large:
            headers |= {"X-Linked-Etag": f'"{file.sha256}"', "X-Linked-Size": str(file.size)}
        if file.xet is not None and self._xet:
            route = f"{self.url}/api/datasets/{repo.name}/xet-read-token/{commit.oid}"
            headers |= {"X-Xet-Hash": file.xet, "X-Xet-Refresh-Route": route}
        if request.method == "HEAD":
            return web.Response(headers=headers | {"Content-Length": str(file.size)})
        asked = request.http_range
        start, stop, _ = slice(asked.start, asked.stop).indices(file.size)
        part = await self._state.part_of(file, start, stop)
        self.reads.append(Read(path, start, start + len(part)))
        status = 206 if "Range" in request.headers else 200
        if status == 206:
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{file.size}"
        return web.Response(body=part, status=status, headers=headers)


def name_of(request: web.Request) -> str:
    """Return the repository or bucket a request is about."""
    return f"{request.match_info['owner']}/{request.match_info['name']}"


def moment(when: datetime) -> str:
    """Return a time as the Hub spells it."""
    return when.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _folders(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def _below(commit: Commit, folder: str, *, recursive: bool) -> list[tuple[str, File | None]]:
    """Return what lies below a folder, folders as None."""
    start = f"{folder}/" if folder else ""
    found: dict[str, File | None] = {}
    for path, file in sorted(commit.files.items()):
        if path.startswith(start):
            inner = [f for f in _folders(path) if f.startswith(start)]
            found |= dict.fromkeys(inner if recursive else inner[:1])
            if recursive or not inner:
                found[path] = file
    return list(found.items())


def _told(path: str, file: File | None) -> dict[str, object]:
    if file is None:
        return {"type": "directory", "path": path, "oid": "0" * 40, "size": 0}
    told: dict[str, object] = {
        "type": "file",
        "path": path,
        "size": file.size,
        "oid": file.git,
    }
    if file.large:
        told["lfs"] = {"oid": file.sha256, "size": file.size, "pointerSize": 134}
    if file.xet is not None:
        told["xetHash"] = file.xet
    return told
