"""What building a prompt costs a step, for an episode of 60 steps: at most 1 ms.

Counted is all that the policy does between the screenshot and the request, picture resizing and
token counting by an engine apart: the observation's text, the window with its evictions, and the
messages that are handed over. The dialect is the default one and the budget is tight enough that
pictures and steps are evicted on the way.
"""

import statistics
import sys
import time

from bench.measuring.result import report
from generators.engine.protocol import Message, Picture
from generators.policy.dialects.coordinates import Frame
from generators.policy.dialects.protocol import Rationale
from generators.policy.dialects.registry import make_dialect
from generators.policy.model.context_window import Budget, ContextWindow
from schemas.episodes.action import Click
from schemas.episodes.observation import PageState

STEPS = 60
ROUNDS = 30
MAX_MS = 1.0
SIDE = 1_024

FRAME = Frame(
    viewport_width=SIDE,
    viewport_height=SIDE,
    picture_width=SIDE,
    picture_height=SIDE,
    sent_width=SIDE,
    sent_height=SIDE,
)


def main() -> int:
    """Run the benchmark; the exit status says whether the line is held."""
    dialect = make_dialect("holotron")
    system = dialect.system_prompt(FRAME)
    page = PageState(
        url="http://miniwob.localhost/miniwob/click-test.html",
        title="Click Test Task",
        form_sha256="0" * 64,
        focus=None,
        scroll_x=0,
        scroll_y=0,
        dom_sha256="0" * 64,
    )
    tokens = dialect.image_tokens(SIDE, SIDE)
    last: list[float] = []
    every: list[float] = []
    segments = 0
    for _ in range(ROUNDS):
        budget = Budget(keep_images=1, slack_images=2, tokens=12_000)
        window = ContextWindow(
            system,
            dialect.task_message("Do it."),
            image_placeholder=dialect.image_placeholder,
            budget=budget,
        )
        for step in range(STEPS):
            echo = dialect.format_action(
                Click(x=step, y=step), FRAME, Rationale(thought="I click it.", element="it")
            )
            picture = Picture(jpeg=b"", step=step, width=SIDE, height=SIDE)
            begun = time.perf_counter()
            before, after = dialect.observation_text(step, page)
            window.append_observation(before, picture, after, picture_tokens=tokens)
            sent: tuple[Message, ...] = window.messages
            window.append_reply(echo)
            spent = (time.perf_counter() - begun) * 1e3
            every.append(spent)
            window.calibrate(6_000 + 20 * len(sent))
        last.append(every[-1])
        segments = window.segment
    mean, worst = statistics.mean(every), statistics.median(last)
    held = mean <= MAX_MS and worst <= MAX_MS
    figures = {
        "bench": "prompt",
        "steps": STEPS,
        "segments": segments,
        "ms_per_step": round(mean, 4),
        "ms_at_last_step": round(worst, 4),
        "max_ms": MAX_MS,
        "held": held,
    }
    report(figures)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
