// The privileged view of the rendered document: in the isolated world, after page.js. It changes nothing.
(() => {
  const {
    CONTROLS, GOAL_BYTES, LABEL_BYTES, MAX_NODES, TOP, attributesOf, bboxOf, boxOf, childrenOf, cut, documentOf,
    fullText, inside, isAround, isShown, isSvg, meet, nodesOf, ownText, parentOf, px, reaches, rectsOf, rootOf, shadowOf,
    squeeze, styleOf, tagOf,
  } = globalThis.stepmill.parts;
  const MAX_WORDS = 2000;
  // Each element has a number for as long as its document lives, and no element of another document has it.
  const keys = new WeakMap();
  let lastKey = crypto.getRandomValues(new Uint32Array(1))[0] * 2 ** 20;
  const keyOf = (element) => {
    if (!keys.has(element)) keys.set(element, (lastKey += 1));
    return keys.get(element);
  };
  const UNREAD = new Set(["script", "style", "head"]);
  const STYLES = ["background-color", "font-size", "overflow-x", "overflow-y", "position"];
  const PROBES = [
    [0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75], [0.1, 0.5], [0.9, 0.5],
    [0.5, 0.1], [0.5, 0.9], [0.25, 0.25], [0.75, 0.75], [0.25, 0.75], [0.75, 0.25],
    [0.06, 0.06], [0.94, 0.94], [0.06, 0.94], [0.94, 0.06],
  ];
  const HEADINGS = new Set(["h1", "h2", "h3", "h4", "h5", "h6"]);
  const VIEW = () => ({ left: 0, top: 0, right: innerWidth, bottom: innerHeight });
  const meetBox = (one, other) => ({
    left: Math.max(one.left, other.left), top: Math.max(one.top, other.top),
    right: Math.min(one.right, other.right), bottom: Math.min(one.bottom, other.bottom),
  });
  const clipsAt = (style) =>
    style.display !== "contents" && (style.overflowX !== "visible" || style.overflowY !== "visible");
  // The first px of the picture that is not before a coordinate.
  const onPixel = (at) => Math.ceil(at * devicePixelRatio - 0.001) / devicePixelRatio;
  const moved = (rect, place) =>
    new DOMRect(rect.left + place.dx, rect.top + place.dy, rect.width, rect.height);
  // What people aim at: the longest line of a text over several lines, and of a heading its words, not the space beside them.
  const aimedAt = (element, box, place) => {
    let drawn = rectsOf(element);
    if (HEADINGS.has(tagOf(element))) {
      const range = documentOf(element).createRange();
      range.selectNodeContents(element);
      drawn = range.getClientRects();
    }
    const rects = [...drawn].slice(0, 8).map((rect) => moved(rect, place));
    const lines = rects.filter((rect) => rect.width > 1 && rect.height > 1);
    const isText = lines.length > 1 || HEADINGS.has(tagOf(element));
    return isText ? [...lines.toSorted((one, other) => other.width - one.width), box] : [box];
  };
  // The first of some points of an element at which a click is as wanted.
  const pointWhere = (isWanted, element, box, clip, place) => {
    for (const rect of aimedAt(element, box, place)) {
      const seen = meetBox(rect, clip);
      if (seen.right <= seen.left || seen.bottom <= seen.top) continue;
      for (const [across, down] of PROBES) {
        const x = onPixel(seen.left + (seen.right - seen.left) * across);
        const y = onPixel(seen.top + (seen.bottom - seen.top) * down);
        if (x >= innerWidth || y >= innerHeight) continue;
        if (isWanted(x, y)) return [x, y];
      }
    }
    return null;
  };
  // Where a click hits an element, or, if it lets clicks through or is clipped away, what it is in.
  const pointIn = (element, style, ...within) => {
    const point = pointWhere((x, y) => reaches(element, x, y), element, ...within);
    if (point || (style.pointerEvents !== "none" && style.clipPath === "none")) return point;
    const around = parentOf(element) || rootOf(element).host;
    if (!around) return null;
    const isThrough = (x, y) => reaches(around, x, y) || isAround(meet(x, y).hit, around);
    return pointWhere(isThrough, element, ...within);
  };
  const wordsOf = (element, count, place) => {
    const out = [];
    const range = documentOf(element).createRange();
    for (const child of nodesOf(element)) {
      if (child.nodeType !== 3) continue;
      for (const found of child.data.matchAll(/\S+/g)) {
        if (count.words >= MAX_WORDS) return out;
        count.words += 1;
        range.setStart(child, found.index);
        range.setEnd(child, found.index + found[0].length);
        out.push([cut(found[0], LABEL_BYTES), bboxOf(range.getBoundingClientRect(), place)]);
      }
    }
    return out;
  };
  // The children as a page shows them: those of a shadow root, those given to its slots, those of a frame.
  const shownChildren = (element) => {
    const root = shadowOf(element);
    if (root) return [...root.children];
    const given = tagOf(element) === "slot" ? element.assignedElements() : [];
    return given.length ? given : [...childrenOf(element)];
  };
  // The text that a shadow root's host gives to a slot directly, without an element around it.
  const givenText = (element) => {
    const given = tagOf(element) === "slot" ? element.assignedNodes() : [];
    return given.filter((one) => one.nodeType === 3).map((one) => one.data).join(" ").trim();
  };
  const read = (element, count, outer, place) => {
    count.nodes += 1;
    const box = moved(boxOf(element), place);
    const style = styleOf(element);
    // An absolutely positioned element may leave the boxes that clip its neighbours.
    const clip = style.position === "absolute" || style.position === "fixed" ? VIEW() : outer;
    const isBody = element === documentOf(element).body;
    const seen = !isBody && clipsAt(style) ? meetBox(clip, box) : clip;
    const shown = isShown(style, box) ||
      isSvg(element) && style.visibility === "visible" &&
        style.display !== "none";
    const tag = tagOf(element);
    const attrs = {};
    for (const { name, value } of attributesOf(element))
      attrs[cut(name, LABEL_BYTES)] = cut(value, GOAL_BYTES);
    // Most elements share their styles with others: each set is sent once, and an element names it.
    const styles = JSON.stringify(Object.fromEntries(
      STYLES.map((name) => [name, cut(style.getPropertyValue(name), LABEL_BYTES)])));
    if (!count.styles.has(styles)) count.styles.set(styles, count.styles.size);
    const children = [];
    for (const child of shownChildren(element)) {
      if (count.nodes >= MAX_NODES) break;
      if (!UNREAD.has(tagOf(child))) children.push(read(child, count, seen, place));
    }
    const frame = tag === "iframe" ? inside(element, place) : null;
    if (frame && frame.document.documentElement && count.nodes < MAX_NODES)
      children.push(read(frame.document.documentElement, count, meetBox(seen, box), frame));
    // What the text of an element leaves out: shadow roots and frames in it. What a host has beside its shadow root
    // is where the slots are, or nowhere.
    const given = givenText(element);
    const apart = given || (frame || shadowOf(element) || tag === "slot") && children.some((one) => one.text);
    const composed = apart || children.some((one) => count.composed.has(one));
    const direct = shadowOf(element) ? "" : ownText(element, 2000);
    const text = composed ? [direct, given, ...children.map((one) => one.text)].join(" ") : fullText(element);
    const inner = [px.clientWidth(element), px.clientHeight(element)];
    const scrolls = px.scrollHeight(element) > inner[1] + 1 ||
      px.scrollWidth(element) > inner[0] + 1;
    const checkable = tag === "input" && (element.type === "checkbox" || element.type === "radio");
    let selected = null;
    if (tag === "select" && element.selectedIndex >= 0)
      selected = squeeze(element.options[element.selectedIndex].text);
    else if (tag === "textarea" || (tag === "input" && element.type === "text"))
      selected = cut(
        element.value.slice(element.selectionStart, element.selectionEnd), GOAL_BYTES);
    const node = {
      key: keyOf(element), tag: cut(tag, LABEL_BYTES), attrs,
      text: squeeze(text, 4000),
      own_text: ownText(element, 2000), box: bboxOf(box),
      point: shown ? pointIn(element, style, box, clip, place) : null, shown, style: count.styles.get(styles),
      value: CONTROLS.has(tag) && tag !== "button" ? cut(element.value || "", GOAL_BYTES) : null,
      checked: checkable ? element.checked : null, selected,
      scroll: scrolls ? [px.scrollLeft(element), px.scrollTop(element), px.scrollWidth(element),
        px.scrollHeight(element)] : null,
      inner, focused: rootOf(element).activeElement === element,
      words: shown ? wordsOf(element, count, place) : [], children,
    };
    if (composed) count.composed.add(node);
    return node;
  };
  globalThis.stepmill.read = () => {
    const count = { nodes: 0, words: 0, styles: new Map(), composed: new WeakSet() };
    const root = read(document.documentElement, count, VIEW(), TOP);
    return { root, styles: [...count.styles.keys()].map((styles) => JSON.parse(styles)) };
  };
})();
