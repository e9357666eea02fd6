"""How much an endpoint takes: its context, and pictures in one prompt."""

from generators.endpoint_check.endpoint import CheckedEndpoint, RequestRefused, user
from generators.endpoint_check.probe_images import filler_page
from generators.endpoint_check.result import CheckResult, Fitness
from generators.policy.model.context_window import text_tokens
from generators.policy.model.setup import RESERVED_TOKENS
from schemas.sections import PolicySection

MAX_IMAGES = 8
"""More are not tried."""

_SMALL = (64, 64)
_USUAL = PolicySection()


async def check_context(subject: CheckedEndpoint) -> list[CheckResult]:
    """Say whether the context holds a prompt of the dialect and its reply."""
    context, dialect, frame = subject.card.context_tokens, subject.dialect, subject.frame
    picture = dialect.image_tokens(frame.sent_width, frame.sent_height)
    least = (
        text_tokens(dialect.system_prompt(frame)) + RESERVED_TOKENS + _USUAL.max_tokens + picture
    )
    good = least + (_USUAL.keep_images + _USUAL.slack_images - 1) * picture
    remedy = f"serve at least {good} (vLLM: --max-model-len), or lower policy.max_tokens"
    if context is None:
        found = "it does not say"
        remedy = f"see that it is at least {good}, and set policy.context_tokens"
        fitness = Fitness.POOR
    else:
        found = f"{context} tokens; a prompt and its reply need {least}, better {good}"
        fitness = (
            Fitness.UNFIT if context < least else Fitness.POOR if context < good else Fitness.FIT
        )
    return [
        CheckResult(
            name="context",
            fitness=fitness,
            found=found,
            remedy="" if fitness is Fitness.FIT else remedy,
        )
    ]


async def check_images(subject: CheckedEndpoint) -> list[CheckResult]:
    """Say whether it sees, and how many pictures a prompt may hold; the subject keeps the number.

    Raises:
        RolloutFailure: the endpoint gave no reply.
        RequestRefused: the server refuses text alone.
    """
    without = (await subject.ask([user("What is on the pictures?")], tokens=4)).prompt_tokens
    refusal = ""
    for count in range(1, MAX_IMAGES + 1):
        shown = [filler_page(_SMALL, seed=f"{subject.unique_prefix}-{n}") for n in range(count)]
        try:
            reply = await subject.ask([user(*shown, "What is on the pictures?")], tokens=4)
        except RequestRefused as refused:
            refusal = str(refused)
            break
        if without is not None and reply.prompt_tokens == without:
            refusal = "a picture makes the prompt no longer: it is dropped in silence"
            break
        subject.max_images = count
    return [_image_result(subject.max_images, refusal)]


def _image_result(count: int, refusal: str) -> CheckResult:
    wanted = _USUAL.keep_images + _USUAL.slack_images
    if not count:
        return CheckResult(
            name="pictures",
            fitness=Fitness.UNFIT,
            found=f"none: {refusal}",
            remedy="serve a model that sees, with its pictures allowed",
        )
    found = f"{count} in a prompt" if refusal else f"{count} in a prompt and perhaps more"
    if count >= wanted:
        return CheckResult(name="pictures", fitness=Fitness.FIT, found=found)
    return CheckResult(
        name="pictures",
        fitness=Fitness.UNFIT,
        found=f"{found}; {count + 1}: {refusal}",
        remedy=(
            f"allow {wanted} (vLLM: --limit-mm-per-prompt '{{\"image\": {wanted}}}'), or set "
            f"policy.keep_images = 1 and policy.slack_images = {count - 1}"
        ),
    )
