"""Ways out of a document that only names what it wants: markup, headers, styles and drawings."""

from sites.hostile.way import Way, head_way


def _speculation(rules: str, markup: str = "", *, long: bool = False) -> Way:
    """Return the way of a page whose rules say what it may need next."""
    return Way(
        "const s=document.createElement('script');s.type='speculationrules';"
        f"s.textContent=JSON.stringify({{{rules}}});document.head.append(s)",
        markup,
        top=True,
        direct=True,
        long=long,
    )


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
    "preload": head_way("<link rel=preload as=image href=http://@tcp@/>"),
    "preload-of-a-module": head_way("<link rel=modulepreload href=http://@tcp@/>"),
    "prefetch": head_way("<link rel=prefetch href=http://@tcp@/>"),
    "preload-in-a-header": Way(headers={"Link": "<http://@tcp@/>; rel=preload; as=script"}),
    "report-of-a-policy": Way(
        markup="<img src=/blank>",
        headers={"Content-Security-Policy": "img-src 'none'; report-uri http://@tcp@/"},
    ),
    "preload-of-a-font": head_way("<link rel=preload as=font crossorigin href=http://@tcp@/>"),
    "preload-of-a-set": head_way("<link rel=preload as=image imagesrcset='http://@tcp@/ 1x'>"),
    "module-in-a-header": Way(headers={"Link": "<http://@tcp@/>; rel=modulepreload"}),
    "dictionary": head_way("<link rel=compression-dictionary href=http://@tcp@/>"),
    "stylesheet-for-print": head_way("<link rel=stylesheet media=print href=http://@tcp@/>"),
    "stylesheet-to-choose": head_way(
        "<link rel='alternate stylesheet' title=odd href=http://@tcp@/>"
    ),
    "stylesheet-in-a-shadow": Way(
        markup="<div><template shadowrootmode=open><link rel=stylesheet href=http://@tcp@/></template></div>"
    ),
    "base": Way(markup="<base href=http://@tcp@/><img src=a.png>"),
    "source-of-a-video": Way(
        markup="<video autoplay muted><source src=http://@tcp@/ type=video/mp4></video>"
    ),
    "image-to-decode": Way(
        "const i=new Image();i.src='http://@tcp@/';i.decode().catch(()=>0)",
    ),
    "area": Way(
        "document.querySelector('area').click()",
        "<map name=m><area href=#x ping=http://@tcp@/></map>",
    ),
    "import-map": Way(
        "import('odd').catch(()=>0)",
        '<script type=importmap>{"imports":{"odd":"http://@tcp@/"}}</script>',
    ),
    "report-of-a-trial-policy": Way(
        markup="<img src=/blank>",
        headers={"Content-Security-Policy-Report-Only": "img-src 'none'; report-uri http://@tcp@/"},
    ),
    "rules-of-speculation": Way(
        headers={"Speculation-Rules": '"http://@tcp@/rules.json"'}, long=True
    ),
    "speculation": _speculation("prefetch:[{source:'list',urls:['http://@tcp@/']}]"),
    "speculation-of-a-page": _speculation(
        "prerender:[{source:'list',urls:['http://@tcp@/']}]", long=True
    ),
    "speculation-of-links": _speculation(
        "prefetch:[{source:'document',where:{href_matches:'http://@tcp@/*'},eagerness:'immediate'}]",
        "<a href=http://@tcp@/>x</a>",
        long=True,
    ),
    "redirected-speculation": _speculation("prefetch:[{source:'list',urls:['@away@']}]", long=True),
}
"""What a document names, in markup and headers."""

STYLES = {
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
    "style-of-a-script": Way(
        "const s=new CSSStyleSheet();s.replaceSync('p{background:url(http://@tcp@/)}');document.adoptedStyleSheets=[s]",
        "<p>x",
    ),
    "style-layer": Way(
        markup="<style>@import url(http://@tcp@/) layer(odd) supports(display:grid);</style>"
    ),
    "style-variable": Way(
        markup="<style>p{--odd:url(http://@tcp@/);background:var(--odd)}</style><p>x"
    ),
    "style-set": Way(
        markup="<div style='width:9px;height:9px;background:image-set(\"http://@tcp@/\" 1x)'>"
    ),
    "style-fade": Way(
        markup="<div style='width:9px;height:9px;background:-webkit-cross-fade(url(http://@tcp@/),url(/blank),50%)'>"
    ),
    "style-cursor": Way(markup="<div style='cursor:url(http://@tcp@/),auto'>x</div>"),
    "style-shape": Way(
        markup="<div style='float:left;width:9px;height:9px;shape-outside:url(http://@tcp@/)'></div>"
    ),
    "style-clip": Way(
        markup="<div style='width:9px;height:9px;clip-path:url(http://@tcp@/#f)'>x</div>"
    ),
    "style-animation": Way(
        "document.querySelector('p').animate([{backgroundImage:'url(http://@tcp@/)'},{backgroundImage:'none'}],9999)",
        "<p>x",
    ),
    "style-transition": Way(
        "document.startViewTransition(()=>0)",
        "<style>::view-transition{background:url(http://@tcp@/)}</style><p>x",
    ),
    "font-face": Way("new FontFace('odd','url(http://@tcp@/)').load().catch(()=>0)"),
    "svg-script": Way(markup="<svg><script href=http://@tcp@/></script></svg>"),
    "svg-animation": Way(
        markup="<svg><image width=9 height=9><set attributeName=href to=http://@tcp@/ /></image></svg>"
    ),
    "svg-style": Way(markup="<svg><style>@import 'http://@tcp@/';</style></svg>"),
    "svg-fill": Way(markup="<svg><rect width=9 height=9 fill='url(http://@tcp@/#a)' /></svg>"),
    "svg-frame": Way(
        markup="<svg><foreignObject width=90 height=90><iframe src=http://@tcp@/></iframe></foreignObject></svg>"
    ),
    "svg-link": Way(
        "document.querySelector('svg a').dispatchEvent(new MouseEvent('click',{bubbles:true,cancelable:true}))",
        "<svg><a href=http://@tcp@/><text y=20>x</text></a></svg>",
    ),
}
"""What its styles and drawings name."""
