"""Serves the page of a component: its source, the kit's built files, and what esbuild makes where a kit needs it."""

import json
import subprocess
from functools import cache
from html import escape
from pathlib import Path

from aiohttp import web
from source_tree import ROOT

from widgets.kits import Component, Kit, kits

PACKAGES = ROOT / ".widgets"
INSTALLED = PACKAGES / "node_modules"
BUNDLES = PACKAGES / "bundles"
BOOT = Path(__file__).with_name("boot")

_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}


def page(kit: Kit, component: Component) -> str:
    """Return the source of a component's page; its address is `/KIT/COMPONENT`."""
    styles = "".join(f'<link rel="stylesheet" href="/installed/{path}">' for path in kit.styles)
    paths = [f"/installed/{path}" for path in kit.scripts]
    paths += [f"/bundle/{kit.name}/{name}" for name in kit.bundles]
    scripts = "".join(f'<script src="{path}"></script>' for path in paths)
    modules = "".join(
        f'<script type="module" src="/installed/{path}"></script>' for path in kit.modules
    )
    body = _BODIES[kit.boot](kit, component)
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{component.name}</title>'
        f'{styles}<script src="/boot/say.js"></script></head>'
        f"<body>{scripts}{modules}{body}</body></html>"
    )


def _html(_: Kit, component: Component) -> str:
    return component.page


def _template(component: Component) -> str:
    shown = json.dumps({"template": component.page, "data": component.data}).replace("</", "<\\/")
    return f'<script type="application/json" id="page">{shown}</script>'


def _vue(_: Kit, component: Component) -> str:
    return f'{_template(component)}<div id="app"></div><script src="/boot/vue.js"></script>'


def _angular(kit: Kit, component: Component) -> str:
    script = f'<script src="/bundle/{kit.name}/angular.js"></script>'
    return f"{_template(component)}<app-page></app-page>{script}"


def _react(kit: Kit, component: Component) -> str:
    return (
        f'<div id="app" data-component="{escape(component.name)}"></div>'
        f'<script src="/bundle/{kit.name}/pages.js"></script><script src="/boot/react.js"></script>'
    )


_BODIES = {"html": _html, "vue": _vue, "react": _react, "angular": _angular}


async def answer(request: web.BaseRequest) -> web.StreamResponse:
    """Answer as the server of all pages."""
    match request.path.removeprefix("/").split("/", 2):
        case ["bundle", kit, name]:
            return _text(bundle(kit, name), "text/javascript")
        case ["installed" | "boot" as room, *rest]:
            return _file(_ROOMS[room] / "/".join(rest))
        case [kit, name] if kit in kits() and name in kits()[kit].component:
            return _text(page(kits()[kit], kits()[kit].component[name]), "text/html")
    return web.Response(status=404, text="nothing is here")


_ROOMS = {"installed": INSTALLED, "boot": BOOT}


def _file(path: Path) -> web.Response:
    if not path.is_file():
        return web.Response(status=404, text="nothing is here")
    kind = _TYPES.get(path.suffix, "application/octet-stream")
    return web.Response(body=path.read_bytes(), content_type=kind)


def _text(text: str, kind: str) -> web.Response:
    return web.Response(text=text, content_type=kind, charset="utf-8")


@cache
def bundle(kit: str, name: str) -> str:
    """Return what esbuild makes of a script of a kit."""
    source = _pages(kits()[kit]) if name == "pages.js" else (BOOT / name).read_text("utf-8")
    BUNDLES.mkdir(exist_ok=True)
    done = subprocess.run(
        [INSTALLED / ".bin/esbuild", *_ESBUILD],
        input=source,
        cwd=BUNDLES,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"esbuild on {kit}'s {name}: {done.stderr}")
    return done.stdout


_ESBUILD = (
    "--bundle",
    "--minify",
    "--loader=jsx",
    "--format=iife",
    '--define:process.env.NODE_ENV="production"',
    "--log-level=error",
)


def _pages(kit: Kit) -> str:
    """Return a script of all the kit's pages, each a function component of React."""
    listed = ", ".join(name for name in kit.names() if name.isidentifier())
    shown = ",\n".join(
        f"{json.dumps(one.name)}: () => ({one.page})" for one in kit.component.values()
    )
    return (
        f"const {{ {listed} }} = globalThis.{kit.space};\n"
        "const Held = (given) => React.createElement(globalThis.Held, given);\n"
        f"globalThis.pages = {{ {shown} }};\n"
    )
