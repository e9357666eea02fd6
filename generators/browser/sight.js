// What a picture of the page shows: its texts, line by line, and its drawn things, each with its box.
// Installed after page.js in the same isolated world. A text is in sight where points of it are hit and
// nothing that paints lies over them, so clipped, scrolled out, covered and hidden text is left out; so
// is transparent text, and text of the colour that it stands on.
(() => {
  const {
    TOP, bboxOf, meet, styleOf, cut, LABEL_BYTES, isSvg, tagOf, childrenOf, nodesOf, parentOf,
    documentOf, rootOf, shadowOf, contains, order, boxOf,
  } = globalThis.stepmill.parts;
  const MAX_SIGHTS = 1500;
  const MAX_NODES = 20000;
  const MIN_OPACITY = 0.1;
  const MIN_PX = 3;
  const PROBE_PX = 60;
  const CLEAR = /^(?:transparent|none|rgba\(.*, 0(?:\.0\d*)?\))$/;
  const BOXES = new Set(["img", "canvas", "video", "iframe", "input", "textarea", "select", "button"]);
  const SHAPES = new Set([
    "circle", "rect", "ellipse", "polygon", "polyline", "path", "line", "image",
  ]);
  const BUTTONS = new Set(["button", "submit", "reset"]);
  const UNWRITTEN = new Set(["checkbox", "radio", "range", "color", "file", "image", "hidden"]);
  const DAY = { year: "numeric", month: "2-digit", day: "2-digit" };
  const TIME = { hour: "2-digit", minute: "2-digit" };
  const PARTED = {
    "date": { style: DAY, empty: "mm/dd/yyyy", before: "", after: "T00:00" },
    "time": { style: TIME, empty: "--:-- --", before: "1970-01-01T", after: "" },
  };
  const flat = (text) => text.replace(/\s+/g, " ").trim().toWellFormed();
  const paints = (element, style) => {
    if (BOXES.has(tagOf(element))) return true;
    if (isSvg(element))
      return SHAPES.has(tagOf(element)) && !(CLEAR.test(style.fill) && CLEAR.test(style.stroke));
    return !CLEAR.test(style.backgroundColor) || style.backgroundImage !== "none";
  };
  const hides = (element) => {
    const style = styleOf(element);
    return Number(style.opacity) >= MIN_OPACITY && paints(element, style);
  };
  // Whether a click there would reach `element`, or only what does not paint lies over it.
  const inSight = (element, x, y, through) => {
    const { hit, place } = meet(x, y);
    if (hit === null) return false;
    if (hit === element) return true;
    if (contains(element, hit)) {
      // An icon beside the words may reach into their box: a picture without a ground hides nothing.
      for (let at = hit; at !== element; at = parentOf(at) || element)
        if (hides(at) && (BOXES.has(tagOf(at)) || !CLEAR.test(styleOf(at).backgroundColor)))
          return false;
      return true;
    }
    if (documentOf(hit) !== documentOf(element)) return false;
    const isBelow = order(hit, element) & Node.DOCUMENT_POSITION_FOLLOWING;
    if (through && (isBelow || !hides(hit))) return true; // a click goes through it to what is below
    const root = rootOf(element);
    for (const above of root.elementsFromPoint(x - place.dx, y - place.dy)) {
      if (above === element || contains(element, above)) return true;
      if (hides(above)) return false;
    }
    return false;
  };
  const isRunSeen = (element, box, place, through) => {
    const left = box.left + place.dx;
    const top = box.top + place.dy;
    const at = (across, down) =>
      inSight(element, left + across, top + box.height * down, through);
    if (box.width < 16) return at(box.width / 2, 0.5);
    const rim = box.width < 40 ? box.width / 4 : 2; // a turned letter is not hit at its box's corners
    if (!at(rim, 0.4) || !at(box.width - rim, 0.6)) return false;
    const parts = Math.max(2, Math.ceil(box.width / PROBE_PX));
    for (let part = 1; part < parts; part += 1)
      if (!at((box.width * part) / parts, 0.5)) return false;
    return true;
  };
  const backdrop = (element) => {
    for (let at = element; at; at = parentOf(at)) {
      const style = styleOf(at);
      if (style.backgroundImage !== "none") return null;
      if (!CLEAR.test(style.backgroundColor)) return style.backgroundColor;
    }
    return "rgb(255, 255, 255)";
  };
  const isInk = (element, style) => {
    if (isSvg(element)) return !(CLEAR.test(style.fill) && CLEAR.test(style.stroke));
    const ink = style.webkitTextFillColor || style.color;
    return !CLEAR.test(ink) && ink !== backdrop(element);
  };
  const isLarge = (box) => box.width >= MIN_PX && box.height >= MIN_PX;
  const union = (one, other) => {
    const [left, top] = [Math.min(one.left, other.left), Math.min(one.top, other.top)];
    const right = Math.max(one.left + one.width, other.left + other.width);
    const bottom = Math.max(one.top + one.height, other.top + other.height);
    return { left, top, width: right - left, height: bottom - top };
  };
  // The words of a text node that are in sight, those that follow each other on a line together.
  const runsOf = (node, element, range, place, through) => {
    range.selectNodeContents(node);
    const rects = [...range.getClientRects()].filter(isLarge);
    if (rects.length === 1 && isRunSeen(element, rects[0], place, through))
      return [[flat(node.data), rects[0]]];
    const out = [];
    let open = false;
    for (const found of rects.length ? node.data.matchAll(/\S+/g) : []) {
      range.setStart(node, found.index);
      range.setEnd(node, found.index + found[0].length);
      const box = range.getBoundingClientRect();
      const lines = [...range.getClientRects()].filter(isLarge); // a word may break at its hyphen
      const last = out[out.length - 1];
      if (!lines.length || !lines.every((line) => isRunSeen(element, line, place, through)))
        open = false;
      else if (open && Math.abs(last[1].top - box.top) < box.height / 2) {
        last[0] += ` ${found[0]}`;
        last[1] = union(last[1], box);
      } else {
        out.push([found[0], box]);
        open = true;
      }
    }
    return out.map(([text, box]) => [text.toWellFormed(), box]);
  };
  // What a text field shows of its value: as far as it is scrolled to, line by line.
  const written = (element, style, place) => {
    const box = boxOf(element);
    const px = (name) => parseFloat(style[name]) || 0;
    const left = box.left + element.clientLeft + px("paddingLeft");
    const right = box.left + element.clientLeft + element.clientWidth - px("paddingRight");
    const top = box.top + element.clientTop;
    const bottom = top + element.clientHeight;
    const shadowRoots = [];
    for (let root = rootOf(element); root.host; root = rootOf(root.host)) shadowRoots.push(root);
    const offsetAt = (x, y) => {
      const at = documentOf(element).caretPositionFromPoint(x, y, { shadowRoots });
      return at && at.offsetNode === element ? at.offset : null;
    };
    const { value } = element;
    const out = [];
    // The words between two offsets, without those that are cut at either.
    const add = (from, to, y, height) => {
      let [first, last] = [from, to];
      while (first > 0 && first < to && /^\S\S/.test(value.slice(first - 1, first + 1))) first += 1;
      while (last < value.length && last > first && /^\S\S/.test(value.slice(last - 1, last + 1)))
        last -= 1;
      const seen = { left, top: y - height / 2, width: right - left, height };
      const text = flat(value.slice(first, last));
      if (text && isRunSeen(element, seen, place, false)) out.push([text, seen]);
    };
    if (tagOf(element) === "input") {
      if (value && element.scrollWidth <= element.clientWidth + 1) {
        if (isRunSeen(element, box, place, false)) out.push([flat(value), box]);
      } else if (value) {
        const y = (top + bottom) / 2;
        const from = offsetAt(left + 0.5, y);
        const isEnd = element.scrollLeft + element.clientWidth >= element.scrollWidth - 1;
        const to = isEnd ? value.length : offsetAt(right - 0.5, y);
        if (from !== null && to !== null) add(from, to, y, bottom - top);
      }
      return out;
    }
    const height = px("lineHeight") || px("fontSize") * 1.15;
    const lines = [];
    for (let y = top + 1; y < bottom; y += height / 8) {
      const from = offsetAt(left + 0.5, y);
      const last = lines[lines.length - 1];
      if (last && last.from === from) last.ys.push(y);
      else if (from !== null && from < value.length && (!last || from > last.from))
        lines.push({ from, ys: [y] });
    }
    lines.forEach(({ from, ys }, at) => {
      if (ys.length < 5) return; // more than a third of it is clipped
      const next = lines[at + 1];
      const end = offsetAt(right - 0.5, (ys[0] + ys[ys.length - 1]) / 2);
      const to = next ? next.from : end > from ? end : value.length;
      add(from, to, (ys[0] + ys[ys.length - 1]) / 2, height);
    });
    return out;
  };
  // What a field of a day or a time shows, which is not its value; "" where it shows a part of one.
  const parted = (element) => {
    const { style, empty, before, after } = PARTED[element.type];
    if (element.validity.badInput) return "";
    if (!element.value) return empty;
    const day = new Date(`${before}${element.value}${after}Z`);
    const parts = new Intl.DateTimeFormat("en-US", { ...style, timeZone: "UTC" });
    return flat(parts.format(day));
  };
  const controlRuns = (element, style, place, box) => {
    const tag = tagOf(element);
    if (tag === "select") {
      if (element.multiple || element.size > 1)
        return [...element.options].map((option) => [option, boxOf(option)])
          .filter(([option, at]) => isLarge(at) && isRunSeen(option, at, place, false))
          .map(([option, at]) => [flat(option.label), at]);
      const chosen = element.options[element.selectedIndex];
      return chosen && isRunSeen(element, box, place, false) ? [[flat(chosen.label), box]] : [];
    }
    const { type } = element;
    if (type === "password" || (tag === "input" && UNWRITTEN.has(type))) return [];
    if (tag === "input" && BUTTONS.has(type))
      return isRunSeen(element, box, place, false) ? [[flat(element.value), box]] : [];
    if (tag === "input" && Object.hasOwn(PARTED, type)) {
      const shown = parted(element);
      return shown && isRunSeen(element, box, place, false) ? [[shown, box]] : [];
    }
    if (element.value) return written(element, style, place);
    const hint = element.placeholder;
    return hint && isRunSeen(element, box, place, false) ? [[flat(hint), box]] : [];
  };
  const isDrawn = (element, style, box) => {
    if (!isLarge(box) || tagOf(element) === "iframe") return false;
    if (paints(element, style)) return true;
    return !isSvg(element) && style.content.startsWith("url") ||
      ["Top", "Right", "Bottom", "Left"].some((side) => parseFloat(style[`border${side}Width`]) > 0 &&
        !CLEAR.test(style[`border${side}Color`]));
  };
  const look = (root, place, state) => {
    const pending = [[root, 1]];
    while (pending.length && state.nodes < MAX_NODES && state.out.length < MAX_SIGHTS) {
      const [element, outer] = pending.pop();
      state.nodes += 1;
      const tag = tagOf(element);
      if (element === state.without) continue;
      if (tag === "script" || tag === "style" || tag === "noscript" || tag === "option") continue;
      const style = styleOf(element);
      const opacity = outer * Number(style.opacity);
      if (style.display === "none" || opacity < MIN_OPACITY) continue;
      // Of a slot what is given to it is shown: by what it stands in, because it has no box.
      const given = tag === "slot" ? element.assignedNodes() : [];
      const shadow = shadowOf(element);
      const own = shadow ? shadow.children : childrenOf(element);
      const children = given.length ? given.filter((one) => !(one instanceof Text)) : own;
      const holder = given.length ? parentOf(element) || rootOf(element).host : element;
      const control = tag === "input" || tag === "textarea" || tag === "select";
      if (!control)
        for (let at = children.length - 1; at >= 0; at -= 1) pending.push([children[at], opacity]);
      if (style.visibility !== "visible") continue;
      const through = style.pointerEvents === "none";
      const box = boxOf(element);
      const runs = [];
      if (control) runs.push(...controlRuns(element, style, place, box));
      else {
        let ink = null;
        for (const child of given.length ? given : nodesOf(shadow || element)) {
          if (child.nodeType !== 3 || !/\S/.test(child.data)) continue;
          ink = ink === null ? isInk(holder, styleOf(holder)) : ink;
          if (ink) runs.push(...runsOf(child, holder, state.range, place, through));
        }
      }
      const bare = !runs.length && (control || !children.length);
      if (bare && isDrawn(element, style, box)) {
        const x = place.dx + box.left + box.width / 2;
        const y = place.dy + box.top + box.height / 2;
        if (inSight(element, x, y, through)) runs.push(["", box]);
      }
      for (const [text, at] of runs) {
        const [left, top, width, height] = bboxOf(at, place).map(Math.round);
        state.out.push({ text: cut(text, LABEL_BYTES), bbox: [left, top, width, height] });
      }
    }
    return state.out;
  };
  const begin = (without = null) =>
    ({ out: [], nodes: 0, range: document.createRange(), without });
  globalThis.stepmill.sights = (all) => {
    const state = begin();
    for (const place of all)
      if (place.document.body) {
        state.range = place.document.createRange();
        look(place.document.body, place, state);
      }
    const list = globalThis.stepmill.drawn();
    if (list) {
      const [left, top, width, height] = bboxOf(boxOf(list.inner));
      const isClear = ({ bbox: [x, y, wide, high] }) =>
        x + wide <= left || x >= left + width || y + high <= top || y >= top + height;
      state.out = state.out.filter(isClear);
      state.range = document.createRange();
      look(list.inner, TOP, state);
    }
    return state.out;
  };
  // What is in sight of an element's text, perhaps without that of an element in it.
  globalThis.stepmill.shownText = (element, place, without = null) => {
    if (tagOf(element) === "option") {
      const box = boxOf(element);
      return isLarge(box) && isRunSeen(element, box, place, false) ? flat(element.label) : "";
    }
    const state = begin(without);
    state.range = documentOf(element).createRange();
    return look(element, place, state).map(({ text }) => text).filter(Boolean).join(" ");
  };
})();
