"""What a page of a world is looked at for in a browser: what makes it hard or impossible to use as it is shown."""

LOOK = """(() => {
  const found = [], root = document.documentElement;
  const words = e => (e.innerText || e.value || e.name || e.tagName).trim().slice(0, 40);
  const stays = e => { for (; e; e = e.parentElement)
    if (e.tagName === "DIALOG" || ["fixed", "sticky"].includes(getComputedStyle(e).position)) return true;
    return false; };
  const isShown = e => e.checkVisibility({opacityProperty: true, visibilityProperty: true});

  const paint = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const ground = e => { for (const layers = []; ; e = e.parentElement) {
    const style = e && getComputedStyle(e);
    if (style && style.backgroundImage !== "none") return null;
    const colour = style ? style.backgroundColor : "white";
    layers.push(colour);
    paint.fillStyle = colour;
    if (e && !/^#/.test(paint.fillStyle)) continue;
    return layers.reverse(); } };
  const light = layers => { for (const each of layers) { paint.fillStyle = each; paint.fillRect(0, 0, 1, 1); }
    const [r, g, b] = [...paint.getImageData(0, 0, 1, 1).data].slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const contrast = (e, part) => { const under = ground(e);
    if (!under) return 21;
    const [one, other] = [light(under), light([...under, getComputedStyle(e, part).color])];
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05); };

  const within = (box, frame) => ({left: Math.max(box.left, frame.left), top: Math.max(box.top, frame.top),
    right: Math.min(box.right, frame.right), bottom: Math.min(box.bottom, frame.bottom)});
  const seen = (e, box) => { // the part of a box that nothing around an element hides or scrolls away
    for (let p = e; p; p = p.parentElement)
      if (p !== document.body && p !== root && getComputedStyle(p).overflow !== "visible") box = within(box, p.getBoundingClientRect());
    return box; };
  const clips = e => { const style = getComputedStyle(e); // nobody can scroll to what it hides, and nothing says so
    return ["hidden", "clip"].includes(style.overflowX) && style.textOverflow !== "ellipsis"; };
  const holder = e => { while (getComputedStyle(e).display.startsWith("inline") && e.parentElement) e = e.parentElement;
    return e; };

  if (root.scrollWidth > innerWidth + 1) found.push(`the page is ${root.scrollWidth} px wide`);
  const lines = [], told = new Set(), range = document.createRange();
  for (const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); walk.nextNode();) {
    const text = walk.currentNode, e = text.parentElement;
    if (!text.data.trim() || e.closest("option,script,style,[disabled]") || !isShown(e)) continue;
    if (!told.has(e)) {
      const ratio = contrast(e);
      if (ratio < 3) found.push(`'${words(e)}' has a contrast of ${ratio.toFixed(1)} to 1`);
    }
    const frame = holder(e), around = frame.getBoundingClientRect();
    range.selectNodeContents(text);
    const boxes = range.getClientRects();
    if (boxes.length > 3 && text.data.trim().length < 2 * boxes.length && !told.has(e))
      found.push(`'${words(e)}' has a letter a line`);
    for (const box of boxes) {
      if (box.width < 2 || box.height < 2 || around.width < 2) continue;
      const out = Math.max(box.right - around.right, around.left - box.left) > 3;
      if (out && clips(frame) && !told.has(e)) found.push(`'${words(e)}' is cut off`);
      else if (out && !["auto", "scroll"].includes(getComputedStyle(frame).overflowX) && getComputedStyle(frame).textOverflow !== "ellipsis" && !told.has(e))
        found.push(`'${words(e)}' runs out of what it is in`);
      told.add(e);
      const part = seen(e, box);
      if (!stays(e) && part.right - part.left > 2 && part.bottom - part.top > 2 && lines.length < 400) lines.push([part, e, text]);
    }
    told.add(e);
  }
  for (const [at, [a, one, from]] of lines.entries()) for (const [b, other, to] of lines.slice(at + 1)) {
    const both = within(a, b), high = both.bottom - both.top;
    if (from !== to && both.right - both.left > 3 && high > 0.5 * Math.min(a.bottom - a.top, b.bottom - b.top))
      found.push(`'${words(one)}' lies over '${words(other)}'`);
  }
  for (const e of document.body.querySelectorAll("[placeholder]:placeholder-shown")) {
    const ratio = isShown(e) ? contrast(e, "::placeholder") : 21;
    if (ratio < 3) found.push(`'${e.placeholder}' has a contrast of ${ratio.toFixed(1)} to 1`);
  }
  for (const e of document.body.querySelectorAll("[type=radio],[type=checkbox]")) {
    const label = e.labels[0], box = e.getBoundingClientRect();
    if (!label || !isShown(e) || !isShown(label)) continue;
    range.selectNodeContents(label);
    const said = range.getBoundingClientRect();
    if (Math.max(said.left - box.right, box.left - said.right) > 60) found.push(`'${words(label)}' is far from its box`);
  }
  for (const e of document.body.querySelectorAll("a,button,select,textarea,input,summary")) {
    const first = e.getClientRects()[0];
    if (!first || !isShown(e)) continue;
    const box = seen(e, first), x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
    if (box.right - box.left < 3 || box.bottom - box.top < 3 || x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) continue;
    const top = document.elementFromPoint(x, y);
    if (top && !e.contains(top) && !top.contains(e) && !stays(top) && ![...(e.labels || [])].some(l => l.contains(top)))
      found.push(`'${words(e)}' is covered by '${words(top)}'`);
  }
  return found.slice(0, 5);
})()"""
"""What is wider than the page, cut off, out of what it is in, over another text, broken after each letter, covered by
something that does not stay in place by design, far from the box that it is the label of, or of less than 3 to 1 in
contrast (WCAG 2.2, 1.4.11; a picture behind a text is not judged)."""

OPEN = """(() => {
  const link = document.querySelector("main a[data-place], [data-rows][data-place] a[href]");
  link?.click();
  return link !== null;
})()"""
"""Opens what the page shows in a window over it, or beside its list; false: it has nothing of the kind."""
