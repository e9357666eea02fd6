"""Whether Prefect's server knows how the last task runs of a flow ended.

The states of task runs reach the server as events, on a way of their own, and may still be on it
when the flow is over. A server that is stopped then would never know, so a flow waits for them.
"""

import asyncio
from collections import deque
from uuid import UUID

from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import TaskRunFilter, TaskRunFilterId
from prefect.client.schemas.objects import State

LAST = 100
"""Task runs asked for: whatever ended before them was sent before them."""

WAIT_SECONDS = 30.0
"""How long they are waited for."""

_PAUSE_SECONDS = 0.25


class Recording:
    """The last task runs that ended."""

    def __init__(self) -> None:
        self._last: deque[UUID] = deque(maxlen=LAST)

    def ended(self, state: State[object]) -> None:
        """Remember a task run by its last state."""
        if state.state_details.task_run_id is not None:
            self._last.append(state.state_details.task_run_id)

    async def complete(self) -> bool:
        """Wait until the server knows how they ended; return False if it takes too long."""
        wanted = TaskRunFilter(id=TaskRunFilterId(any_=list(self._last)))
        loop = asyncio.get_running_loop()
        deadline = loop.time() + WAIT_SECONDS
        async with get_client() as client:
            while loop.time() < deadline:
                runs = await client.read_task_runs(task_run_filter=wanted, limit=LAST)
                if sum(run.state is not None and run.state.is_final() for run in runs) == len(
                    self._last
                ):
                    return True
                await asyncio.sleep(_PAUSE_SECONDS)
        return False
