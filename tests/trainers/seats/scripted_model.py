"""A model behind an API of OpenAI's kind that needs no weights: it acts by the elements in its prompt.

`python scripted_model.py PORT` serves it on loopback.
"""

import json
import sys

from aiohttp import web
from scripted import MINIWOB, next_action


def reply_to(messages: list) -> str:
    told = [
        "".join(part.get("text", "") for part in message["content"])
        if isinstance(message["content"], list)
        else message["content"]
        for message in messages
        if message["role"] == "user"
    ]
    goal = told[0].splitlines()[0]
    step = sum(message["role"] == "assistant" for message in messages)
    template = MINIWOB[0] if any(word in goal for word in ("button", "link", "textbox")) else ""
    elements = told[-1].splitlines()
    action = next_action(template, goal, elements, step)
    return f"I do what the goal says. {json.dumps(action)}"


async def complete(request: web.Request) -> web.Response:
    body = await request.json()
    message = {"role": "assistant", "content": reply_to(body["messages"])}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return web.json_response(
        {
            "id": "scripted",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [choice],
            "usage": usage,
        }
    )


def main() -> None:
    app = web.Application(client_max_size=1 << 28)
    app.router.add_post("/v1/chat/completions", complete)
    web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None)


if __name__ == "__main__":
    main()
