"""A bucket that is watched: which parts of which objects were given out."""

from aiohttp import web
from support.servers.read_ranges import Read, read_of
from support.servers.s3_fault_proxy import Flaky


class Watching(Flaky):
    """A proxy before an S3 server that passes on everything and keeps a record."""

    def __init__(self, upstream: str) -> None:
        super().__init__(upstream)
        self.reads: list[Read] = []
        """So far; it may be emptied."""

    async def serve(self, request: web.Request) -> web.StreamResponse:
        answer = await super().serve(request)
        if request.method == "GET":
            read = read_of(request.path, answer)
            if read is not None:
                self.reads.append(read)
        return answer
