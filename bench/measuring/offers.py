"""What a page offers to whoever clicks at random."""

OFFERED = """(() => {
  const top = [...document.querySelectorAll("dialog[open]")].pop() || document;
  const found = [...top.querySelectorAll("a[href],button,select,textarea,input,summary,[role],[contenteditable]")];
  const words = document.body.innerText.split(/\\n+/).map(text => text.trim()).filter(text => text && text.length < 40);
  return {words, boxes: found.map(one => [one.getBoundingClientRect(), one]).filter(([box]) => box.width > 2 &&
      box.height > 2 && box.x >= 0 && box.y >= 0 && box.right <= innerWidth && box.bottom <= innerHeight)
    .map(([box, one]) => [box.x + box.width / 2, box.y + box.height / 2, one.matches(
      "textarea,[contenteditable],input:not([type=radio],[type=checkbox],[type=range])")])};
})()"""
"""What of a page can be acted on and is in sight, and the lines of its text."""
