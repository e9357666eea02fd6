"""The frame of every hostile page: a button for the policy, and the problem that it stands for."""

_PAGE = """<!DOCTYPE html><html><head><meta charset=utf-8><title>%s</title>
<style>body{margin:0;font:16px sans-serif}button{width:200px;height:100px;display:block}</style>
<script>goal="Press go.";reward=0;done=false;
function win(){reward=1;done=true}
function attack(){%s}</script></head>
<body><button onclick="attack()">go</button>%s<script>%s</script></body></html>"""


def page_of(name: str, *, click: str = "", load: str = "", body: str = "") -> str:
    """Return a page that runs one script at a click and another one while it loads."""
    return _PAGE % (name, click, body, load)
