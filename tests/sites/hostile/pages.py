"""Pages that nobody should have to visit: one for each fault, and what an attempt at it comes to.

A page behaves while it loads, unless its fault is in the loading, and does its worst at the first click.
What survives its own fault says that the task is done, so that its row shows whether it was let. How an
episode ended is told as `finished 1.0`, or as the kind and message of its failure.
"""

from sites.hostile.answers import drip, invalid_text, large, silence
from sites.hostile.fault import CLOSED, FORGED, FORGED_BADLY, GIVEN_UP, WON, Fault, typed

from schemas.episodes.action import Click, Wait

_WASM_LOOP = "0,97,115,109,1,0,0,0,1,4,1,96,0,0,3,2,1,0,7,5,1,1,102,0,0,10,9,1,7,0,3,64,12,0,11,11"
_HALF = "half \\ud83d"

SPINS = {
    "script-spin": Fault(GIVEN_UP, click="for(;;);"),
    "load-spin": Fault(GIVEN_UP, load="for(;;);"),
    "getter-spin": Fault(GIVEN_UP, click="Object.defineProperty(window,'done',{get(){for(;;);}})"),
    "microtask-spin": Fault(GIVEN_UP, click="(function f(){Promise.resolve().then(f)})()"),
    "wasm-spin": Fault(
        GIVEN_UP,
        click=f"WebAssembly.instantiate(new Uint8Array([{_WASM_LOOP}])).then(m=>m.instance.exports.f())",
    ),
    "worker-spin": Fault(
        rf"{WON}|{GIVEN_UP}",
        click="for(let i=0;i<4;i++)new Worker(URL.createObjectURL(new Blob(['for(;;);'])));win()",
    ),
    "regexp-spin": Fault(GIVEN_UP, click="/^(a+)+$/.test('a'.repeat(60)+'!');win()"),
}
"""Endless loops."""

STORMS = {
    "timer-storm": Fault(
        rf"{WON}|{GIVEN_UP}",
        click="for(let i=0;i<200000;i++)setTimeout(function f(){setTimeout(f,0)},0);win()",
    ),
    "frame-storm": Fault(
        rf"{WON}|{GIVEN_UP}",
        click="(function f(){requestAnimationFrame(f);for(let i=0;i<5e7;i++);})();win()",
    ),
    "dialog-storm": Fault(rf"{WON}|{GIVEN_UP}", click="for(;;)alert('x'.repeat(100))"),
    "dialog-mix": Fault(
        rf"{WON}|{GIVEN_UP}",
        click="for(let i=0;i<300;i++){alert(i);confirm(i);prompt(i,'d')}win()",
        quick=True,
    ),
    "popup-storm": Fault(
        rf"{WON}|{GIVEN_UP}",
        click="for(let i=0;i<200;i++)open('/innocent-press');win()",
    ),
    "popup-chain": Fault(
        rf"answered 0\.0|{GIVEN_UP}",
        click="open(location.pathname+'?1')",
        load="if(location.search)for(let i=0;i<2;i++)open(location.pathname+'?'+Math.random())",
    ),
    "navigation-storm": Fault(
        rf"finished -1\.0|{GIVEN_UP}", click="setInterval(()=>{location.href='?'+Math.random()},1)"
    ),
    "reload-storm": Fault(
        rf"finished -1\.0|{GIVEN_UP}",
        click="sessionStorage.again=1;location.reload()",
        load="if(sessionStorage.again)location.reload()",
    ),
    "history-storm": Fault(
        rf"{WON}|{GIVEN_UP}", click="for(let i=0;i<5000;i++)history.pushState(0,'','?'+i);win()"
    ),
}
"""Without an end, each of them a little thing."""

BOMBS = {
    "heap-bomb": Fault(GIVEN_UP, click="a=[];for(;;)a.push(new Array(1e6).fill(Math.random()))"),
    "buffer-bomb": Fault(
        rf"{WON}|{GIVEN_UP}",
        click="a=[];(function f(){a.push(new Uint8Array(2e8).fill(1));if(a.length<20)setTimeout(f,10);else win()})()",
    ),
    "dom-bomb": Fault(
        rf"{WON}|{GIVEN_UP}",
        click="for(let i=0;i<1000000;i++)document.body.append(document.createElement('i'));win()",
    ),
    "dom-deep": Fault(
        rf"{WON}|{GIVEN_UP}",
        click="let e=document.body;for(let i=0;i<50000;i++){const d=document.createElement('div');e.append(d);e=d}win()",
    ),
    "text-bomb": Fault(
        rf"{WON}|{GIVEN_UP}", click="document.body.append('word '.repeat(4000000));win()"
    ),
    "attribute-bomb": Fault(
        rf"{WON}|{GIVEN_UP}",
        click="b=document.querySelector('button');b.setAttribute('aria-label','L'.repeat(2e7));b.value='v'.repeat(9e6);document.title='T'.repeat(1e7);win()",
    ),
    "frame-bomb": Fault(
        rf"{WON}|{GIVEN_UP}",
        click="for(let i=0;i<1500;i++)document.body.append(document.createElement('iframe'));win()",
    ),
    "canvas-bomb": Fault(
        rf"{WON}|{GIVEN_UP}",
        click="for(let i=0;i<4;i++){const c=document.createElement('canvas');c.width=c.height=16000;c.getContext('2d').fillRect(0,0,16000,16000);document.body.append(c)}win()",
    ),
    "style-bomb": Fault(
        rf"{WON}|{GIVEN_UP}",
        click="s=document.createElement('style');s.textContent='body *:has(*) *:nth-child(2n+1):not(:has(b)){filter:blur(2px)}'.repeat(3000);document.head.append(s);for(let i=0;i<5000;i++)document.body.append(document.createElement('b'));win()",
    ),
}
"""What grows."""

FORGERIES = {
    "outcome-nan": Fault(FORGED, click="reward=NaN;done=true"),
    "outcome-infinity": Fault(FORGED, click="reward=Infinity;done=true"),
    "outcome-huge": Fault(FORGED, click="reward=1e308;done=true"),
    "outcome-bigint": Fault(FORGED_BADLY, click="reward=10n**400n;done=true"),
    "outcome-boolean": Fault(FORGED, click="reward=true;done=true"),
    "outcome-promise": Fault(
        FORGED, click="Object.defineProperty(window,'done',{get(){return new Promise(()=>0)}})"
    ),
    "outcome-getter": Fault(
        FORGED, click="Object.defineProperty(window,'reward',{get(){throw new Error('no reward')}})"
    ),
    "outcome-circular": Fault(FORGED_BADLY, click="reward={};reward.self=reward;done=true"),
    "prototype": Fault(
        rf"{WON}|{FORGED}",
        click="Array.prototype.push=Array.prototype.map=()=>{throw 1};JSON.stringify=()=>'FORGED';"
        "window.getComputedStyle=()=>{throw 1};Object.defineProperty(document,'title',{get(){return 'FORGED'}});"
        "Element.prototype.getBoundingClientRect=()=>({left:0,top:0,width:1,height:1});"
        "document.querySelectorAll=()=>[];Date.now=()=>0;win()",
    ),
    "prototype-then": Fault(
        rf"{WON}|{FORGED}",
        click="Object.prototype.toJSON=()=>'FORGED';Object.prototype.then=function(r){r('x')};"
        "Array.prototype[Symbol.iterator]=function*(){yield 1};win()",
    ),
    "prototype-then-early": Fault(GIVEN_UP, load="Object.prototype.then=function(){}"),
    "clobber": Fault(
        WON,
        click="document.body.insertAdjacentHTML('beforeend','<form name=documentElement><input name=body>"
        "<input name=activeElement><img name=querySelectorAll><img name=title></form>');win()",
    ),
    "clock": Fault(
        WON,
        click="Date=function(){return {getTime:()=>0}};performance.now=()=>NaN;requestAnimationFrame=()=>0;"
        "setTimeout=()=>0;Promise.prototype.then=function(){return new Promise(()=>0)};win()",
    ),
}
"""Lies about the outcome, and about everything that a script could rely on."""

ANSWERS = {
    "never-loads": Fault(GIVEN_UP, serve=silence, quick=True),
    "byte-a-second": Fault(GIVEN_UP, serve=drip),
    "large-page": Fault(rf"{WON}|{GIVEN_UP}", serve=large),
    "invalid-text": Fault(WON, serve=invalid_text),
}
"""What a server sends, or does not."""

ODDITIES = {
    "window-close": Fault(rf"{WON}|{GIVEN_UP}|{CLOSED}", click="window.close();win()"),
    "self-close": Fault(rf"{WON}|{GIVEN_UP}|{CLOSED}", click="open('','_self').close();win()"),
    "root-removed": Fault(rf"{WON}|{GIVEN_UP}", click="document.documentElement.remove();win()"),
    "surrogates": Fault(
        WON,
        load=f"document.title='{_HALF}';goal='Press {_HALF}'",
        click=f"for(const name of ['aria-label','title','placeholder','value','href','id','class','alt','name'])"
        f"for(const tag of ['a','input','select','img','button','textarea']){{const e=document.createElement(tag);"
        f"e.setAttribute(name,'{_HALF}');e.append('{_HALF}');document.body.append(e)}}"
        f"alert('{_HALF}');prompt('{_HALF}','{_HALF}');history.pushState(0,'','#{_HALF}');win()",
    ),
    "type-right-to-left": typed("שלום עולם العربية 12", direction="rtl"),
    "type-chinese": typed("中文字 日本語 한국어"),
    "type-emoji": typed("😀👩‍👩‍👧‍👦🏳️‍🌈é", direction="auto"),
    "zoom": Fault(
        WON,
        click="document.documentElement.style.zoom=4;document.body.style.zoom=.1;document.head.insertAdjacentHTML('beforeend',"
        "'<meta name=viewport content=\"width=50,initial-scale=9\">');win()",
    ),
    "resize": Fault(WON, click="resizeTo(9,9);moveTo(5000,5000);resizeBy(70,70);win()"),
    "fullscreen": Fault(
        WON,
        click="document.documentElement.requestFullscreen();document.body.requestPointerLock();"
        "navigator.keyboard&&navigator.keyboard.lock();win()",
        quick=True,
    ),
    "crash": Fault(r"page: the page crashed|browser: too much memory$", crashes=True, quick=True),
    "download-storm": Fault(
        rf"{WON}|{GIVEN_UP}",
        click="for(let i=0;i<60;i++){const a=document.createElement('a');a.href=URL.createObjectURL(new Blob([new Uint8Array(5e6)]));a.download='f'+i;a.click()}win()",
    ),
    "permissions": Fault(
        rf"{WON}|{GIVEN_UP}",
        click="Notification.requestPermission();navigator.geolocation.getCurrentPosition(()=>0);"
        "document.body.insertAdjacentHTML('beforeend','<input type=file>');document.querySelector('input').click();print();win()",
    ),
}
"""What is neither, and has to be met once."""

INNOCENTS = {
    "innocent-press": Fault(WON, click="win()"),
    "innocent-type": typed("Ahoy, world"),
    "innocent-watch": Fault(
        WON,
        load="setInterval(()=>{const c=document.querySelector('canvas').getContext('2d');"
        "c.fillStyle=`hsl(${performance.now()/10} 80% 50%)`;c.fillRect(0,0,80,80);"
        "document.querySelector('p').textContent=`${Math.round(performance.now())} ms`},50)",
        click="if(performance.now()>2000)win()",
        body="<p></p><canvas width=80 height=80></canvas>",
        acts=(Wait(ms=700), Click(x=300, y=350), Wait(ms=700), Click(x=60, y=60)),
    ),
}
"""Pages that do what they say."""

FAULTS: dict[str, Fault] = SPINS | STORMS | BOMBS | FORGERIES | ANSWERS | ODDITIES
"""All that is hostile, by name."""
