"""What the local Hub answers to the requests of the real clients about Storage Buckets.

Making one, what it is, trees, paths, batches that may be taken in part, and ranges of files: as the client asks for it,
no more. There are no conditional writes, because the client knows none.
"""

import json
from collections.abc import Sequence
from urllib.parse import unquote

from aiohttp import web
from hub.endpoints import PAGE, Endpoints, moment, name_of
from hub.state import Bucket, BucketEntry, Refused, State
from support.servers.read_ranges import Read


class BucketEndpoints:
    """The requests about buckets that are answered."""

    def __init__(self, base: Endpoints, state: State) -> None:
        self._base = base
        self._state = state

    def routes(self) -> Sequence[web.RouteDef]:
        api = "/api/buckets/{owner}/{name}"
        return [
            web.post(api, self._create),
            web.get(api, self._info),
            web.get(api + "/tree", self._tree),
            web.get(api + "/tree/{path:.*}", self._tree),
            web.post(api + "/paths-info", self._paths),
            web.post(api + "/batch", self._batch),
            web.get(api + "/xet-{kind}-token", self._xet_token),
            web.route("*", "/buckets/{owner}/{name}/resolve/{path:.*}", self._resolve),
        ]

    def _readable(self, request: web.Request) -> Bucket:
        return self._state.readable_bucket(name_of(request), self._base.account(request))

    def _writable(self, request: web.Request) -> Bucket:
        return self._state.writable_bucket(name_of(request), self._base.account(request))

    async def _create(self, request: web.Request) -> web.Response:
        name, told = name_of(request), await request.json()
        url = f"{self._base.url}/buckets/{name}"
        private = told.get("visibility") == "private"
        try:
            self._state.create_bucket(name, self._base.account(request), private=private)
        except Refused as refused:
            if refused.status == 409:
                return web.json_response({"error": refused.message, "url": url}, status=409)
            raise
        return web.json_response({"url": url, "id": name})

    async def _info(self, request: web.Request) -> web.Response:
        bucket = self._readable(request)
        return web.json_response(
            {
                "id": bucket.name,
                "private": bucket.private,
                "createdAt": moment(bucket.made),
                "size": sum(entry.size for entry in bucket.files.values()),
                "totalFiles": len(bucket.files),
            }
        )

    async def _tree(self, request: web.Request) -> web.Response:
        """Answer with what begins with a prefix, which need not end at a folder."""
        prefix = unquote(request.match_info.get("path", ""))
        recursive = request.query.get("recursive", "").lower() in ("true", "1")
        found: dict[str, dict[str, object]] = {}
        for path, entry in sorted(self._readable(request).files.items()):
            if path.startswith(prefix):
                inner = path[len(prefix) :].lstrip("/").partition("/")
                top = path[: len(path) - len(inner[2]) - 1]
                is_below = bool(inner[1]) and not recursive
                found[top if is_below else path] = (
                    {"type": "directory", "path": top} if is_below else _told(path, entry)
                )
        start = int(request.query.get("cursor", "0"))
        headers = {}
        if start + PAGE < len(found):
            more = request.url.update_query(cursor=str(start + PAGE))
            headers["Link"] = f'<{more}>; rel="next"'
        return web.json_response([*found.values()][start : start + PAGE], headers=headers)

    async def _paths(self, request: web.Request) -> web.Response:
        files = self._readable(request).files
        wanted = (await request.json())["paths"]
        return web.json_response([_told(path, files[path]) for path in wanted if path in files])

    async def _batch(self, request: web.Request) -> web.Response:
        bucket = self._writable(request)
        lines = [json.loads(line) for line in (await request.read()).splitlines() if line]
        failed = self._state.change_bucket(bucket, lines)
        told = {"success": not failed, "processed": len(lines), "failed": failed}
        return web.json_response(told, status=422 if len(failed) == len(lines) else 200)

    async def _xet_token(self, request: web.Request) -> web.Response:
        if request.match_info["kind"] == "write":
            self._writable(request)
        else:
            self._readable(request)
        return self._base.xet_token()

    async def _resolve(self, request: web.Request) -> web.Response:
        bucket = self._readable(request)
        path = unquote(request.match_info["path"])
        entry = bucket.files.get(path)
        if entry is None:
            raise Refused(404, "Entry not found", "EntryNotFound")
        headers = {
            "Accept-Ranges": "bytes",
            "ETag": f'"{entry.xet}"',
            "X-Linked-Size": str(entry.size),
            "X-Xet-Hash": entry.xet,
            "X-Xet-Refresh-Route": f"{self._base.url}/api/buckets/{bucket.name}/xet-read-token",
        }
        if request.method == "HEAD":
            return web.Response(headers=headers | {"Content-Length": str(entry.size)})
        asked = request.http_range
        start, stop, _ = slice(asked.start, asked.stop).indices(entry.size)
        part = await self._state.part_of_bucket(entry, start, stop)
        self._base.reads.append(Read(path, start, start + len(part)))
        status = 206 if "Range" in request.headers else 200
        if status == 206:
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{entry.size}"
        return web.Response(body=part, status=status, headers=headers)


def _told(path: str, entry: BucketEntry) -> dict[str, object]:
    return {
        "type": "file",
        "path": path,
        "size": entry.size,
        "xetHash": entry.xet,
        "mtime": moment(entry.mtime),
        "uploadedAt": moment(entry.uploaded),
    }
