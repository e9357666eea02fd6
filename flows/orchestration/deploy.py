"""How `prefect.yaml` and `automations.yaml` get to a server, without undoing what its users set there.

The server may be borrowed, or one where a user paused a schedule last week. A work pool that exists
stays as it is. A schedule that has a slug is updated by Prefect and stays paused if it was;
one without a slug would be replaced by a new one that is switched on, so each gets a slug first. A
deployment that is paused as a whole would be resumed, so meanwhile its schedules are switched off.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import yaml
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.responses import DeploymentResponse
from prefect.events.schemas.automations import AutomationCore
from prefect.exceptions import ObjectNotFound
from prefect.settings import PREFECT_API_URL, temporary_settings

from flows.orchestration.supervisor import CommandFailed, prefect_command, run_command
from flows.terminal import print_note

AUTOMATIONS = "automations.yaml"
"""Where they are described, beside `prefect.yaml`."""

POOL = "local"
"""The work pool that `prefect.yaml` deploys to."""

DEPLOYMENTS = ("generate/generate-nightly", "verify/verify", "publish/publish")
"""The deployments in `prefect.yaml`."""

SLUG = "nightly"
"""The slug of the schedule in `prefect.yaml`."""

_PROCESS = "process"


async def deploy(url: str, environ: Mapping[str, str]) -> None:
    """Create the deployments, and the work pool if it does not exist, on the server at `url`.

    Raises:
        CommandFailed: a Prefect command refuses, or the pool is of another type.
    """
    with temporary_settings({PREFECT_API_URL: url}):
        async with get_client() as client:
            if not await _has_pool(client):
                await run_command(
                    environ, prefect_command("work-pool", "create", POOL, "--type", _PROCESS)
                )
            async with contextlib.AsyncExitStack() as stack:
                for deployment in [one async for one in _deployments(client)]:
                    await _name_schedules(client, deployment)
                    if deployment.paused:
                        await stack.enter_async_context(_keep_paused(client, deployment))
                await run_command(environ, prefect_command("--no-prompt", "deploy", "--all"))
            await _automate(client)
            async for deployment in _deployments(client):
                if deployment.paused or not all(one.active for one in deployment.schedules):
                    print_note(f"the schedule of {deployment.name} is paused and stays so")


async def _automate(client: PrefectClient) -> None:
    """Create or renew the automations that resume crashed flow runs; a disabled one stays disabled."""
    text = await asyncio.to_thread(Path(AUTOMATIONS).read_text, encoding="utf-8")
    for wanted in yaml.safe_load(text)["automations"]:
        there = await client.read_automations_by_name(wanted["name"])
        if not there:
            await client.create_automation(AutomationCore.model_validate(wanted))
        for one in there[:1]:
            core = AutomationCore.model_validate({**wanted, "enabled": one.enabled})
            await client.update_automation(one.id, core)
            if not one.enabled:
                print_note(f"the automation {one.name} is switched off and stays so")


async def _has_pool(client: PrefectClient) -> bool:
    try:
        pool = await client.read_work_pool(POOL)
    except ObjectNotFound:
        return False
    if pool.type != _PROCESS:
        raise CommandFailed(
            f"the work pool '{POOL}' at {client.api_url} is of type {pool.type}, and one of type "
            f"{_PROCESS} is needed: delete it there, or use another server"
        )
    if pool.is_paused:
        print_note(
            f"the work pool '{POOL}' is paused and stays so: nothing runs until it is resumed"
        )
    return True


async def _deployments(client: PrefectClient) -> AsyncIterator[DeploymentResponse]:
    """Yield those of our deployments that the server has."""
    for name in DEPLOYMENTS:
        with contextlib.suppress(ObjectNotFound):
            yield await client.read_deployment_by_name(name)


async def _name_schedules(client: PrefectClient, deployment: DeploymentResponse) -> None:
    """Give schedules without a slug one: the oldest is ours if none has ours, others stay."""
    slugs = {schedule.slug for schedule in deployment.schedules}
    for schedule in sorted(deployment.schedules, key=lambda schedule: str(schedule.created)):
        if schedule.slug is None:
            slug = f"kept-{schedule.id}" if SLUG in slugs else SLUG
            slugs.add(slug)
            await client.update_deployment_schedule(deployment.id, schedule.id, slug=slug)


@contextlib.asynccontextmanager
async def _keep_paused(
    client: PrefectClient, deployment: DeploymentResponse
) -> AsyncIterator[None]:
    """Switch a paused deployment's schedules off meanwhile, and leave it paused at the end."""
    active = [schedule.id for schedule in deployment.schedules if schedule.active]
    for schedule in active:
        await client.update_deployment_schedule(deployment.id, schedule, active=False)
    try:
        yield
    finally:
        await client.pause_deployment(deployment.id)
        for schedule in active:
            await client.update_deployment_schedule(deployment.id, schedule, active=True)
