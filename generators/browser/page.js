// Installed once in each document's isolated world: it sees the document but none of the page's
// variables, and the page cannot see it.
globalThis.stepmill = (() => {
  const MAX_ELEMENTS = 400;
  const MAX_TEXT = 200;
  const MAX_NODES = 20000;
  const MAX_WORDS = 2000;
  const MAX_FRAMES = 20;
  // Cuts as `truncate` in schemas/truncation.py does, with the same bounds and the same mark, so that
  // text which would be cut anyway is not sent.
  const GOAL_BYTES = 20000;
  const URL_BYTES = 8000;
  const TITLE_BYTES = 1000;
  const LABEL_BYTES = 1000;
  const MARK_BYTES = 64;
  const UTF8_BYTES = 3; // at most, for each unit of a string
  const crc32 = (bytes) => {
    let sum = -1;
    for (const byte of bytes) {
      sum ^= byte;
      for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
    }
    return (~sum >>> 0).toString(16).padStart(8, "0");
  };
  const cut = (text, maxBytes) => {
    if (text.length * UTF8_BYTES <= maxBytes) return text.toWellFormed();
    const bytes = new TextEncoder().encode(text);
    if (bytes.length <= maxBytes) return text.toWellFormed();
    let keep = maxBytes - MARK_BYTES;
    while ((bytes[keep] & 0xc0) === 0x80) keep -= 1;
    const kept = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, keep));
    const missing = (bytes.length - keep).toLocaleString("en-US");
    return `${kept}…[cut: ${missing} more bytes, crc32 ${crc32(bytes)}]`;
  };
  const squeeze = (text, maxLength = MAX_TEXT) => {
    const flat = (text || "").replace(/\s+/g, " ").trim().toWellFormed();
    if (flat.length <= maxLength) return flat;
    const pair = flat.codePointAt(maxLength - 1) > 0xffff; // half a pair is not a character
    return flat.slice(0, pair ? maxLength - 1 : maxLength);
  };
  const round = (number) => Math.round(number * 100) / 100;
  const ROLES = {
    a: "link", button: "button", select: "combobox", textarea: "textbox", img: "img",
    option: "option", li: "listitem", ul: "list", ol: "list", table: "table", tr: "row",
    td: "cell", th: "columnheader", h1: "heading", h2: "heading", h3: "heading", h4: "heading",
    h5: "heading", h6: "heading", form: "form", nav: "navigation", main: "main", label: "label",
    p: "paragraph", dialog: "dialog", canvas: "canvas", svg: "graphics-document",
  };
  const INPUT_ROLES = {
    checkbox: "checkbox", radio: "radio", range: "slider", number: "spinbutton",
    button: "button", submit: "button", reset: "button", image: "button", search: "searchbox",
  };
  const CONTROLS = new Set(["input", "textarea", "select", "option", "button"]);
  // A form has each of its fields as a property, before what all elements have. So elements are
  // asked by their classes: a field called `children` must not stand for what is in its form.
  const own = (name) => {
    const { prototype } = [Element, Node].find((one) => Object.hasOwn(one.prototype, name));
    const { get, value } = Object.getOwnPropertyDescriptor(prototype, name);
    return Function.prototype.call.bind(get || value);
  };
  const htmlOwn = (name) => {
    const { get } = Object.getOwnPropertyDescriptor(HTMLElement.prototype, name);
    return (element) => namespaceOf(element) === HTML ? get.call(element) : undefined;
  };
  const HTML = "http://www.w3.org/1999/xhtml";
  const tagOf = own("localName");
  const tagName = own("tagName");
  const namespaceOf = own("namespaceURI");
  const attributesOf = own("attributes");
  const attribute = own("getAttribute");
  const hasAttribute = own("hasAttribute");
  const childrenOf = own("children");
  const nodesOf = own("childNodes");
  const parentOf = own("parentElement");
  const documentOf = own("ownerDocument");
  const rootOf = own("getRootNode");
  const shadowOf = own("shadowRoot");
  const contains = own("contains");
  const closest = own("closest");
  const order = own("compareDocumentPosition");
  const boxOf = own("getBoundingClientRect");
  const rectsOf = own("getClientRects");
  const contentOf = own("textContent");
  const innerTextOf = htmlOwn("innerText");
  const isEditable = htmlOwn("isContentEditable");
  const px = Object.fromEntries([
    "clientWidth", "clientHeight", "scrollLeft", "scrollTop", "scrollWidth", "scrollHeight",
  ].map((name) => [name, own(name)]));
  const isSvg = (element) => (namespaceOf(element) || "").endsWith("svg");
  const labelOf = (element) => {
    const isForm = tagOf(element) === "form";
    return !isForm && element.labels && element.labels.length ? element.labels[0] : null;
  };
  const roleOf = (element) => {
    const explicit = attribute(element, "role");
    if (explicit) return squeeze(explicit, 40);
    if (tagOf(element) === "input") return INPUT_ROLES[element.type] || "textbox";
    return ROLES[tagOf(element)] || "";
  };
  const ownText = (element, maxLength = MAX_TEXT) => {
    let text = "";
    for (const child of nodesOf(element)) if (child.nodeType === 3) text += child.data;
    return squeeze(text, maxLength);
  };
  const fullText = (element) => innerTextOf(element) ?? contentOf(element);
  const textOf = (element) => squeeze(fullText(element));
  const nameOf = (element) => {
    const labelled = attribute(element, "aria-label");
    if (labelled) return squeeze(labelled);
    const label = labelOf(element);
    if (label) return textOf(label);
    for (const name of ["alt", "placeholder", "title", "name"]) {
      const value = attribute(element, name);
      if (value) return squeeze(value);
    }
    const isInput = tagOf(element) === "input" && INPUT_ROLES[element.type] === "button";
    return isInput ? squeeze(element.value) : textOf(element);
  };
  const valueOf = (element) => {
    const tag = tagOf(element);
    if (tag === "input" && (element.type === "checkbox" || element.type === "radio"))
      return String(element.checked);
    return CONTROLS.has(tag) && tag !== "button" ? squeeze(element.value) : null;
  };
  const share = (box, place) => {
    const left = box.left + place.dx;
    const top = box.top + place.dy;
    const width = Math.min(left + box.width, innerWidth) - Math.max(left, 0);
    const height = Math.min(top + box.height, innerHeight) - Math.max(top, 0);
    const area = box.width * box.height;
    return width <= 0 || height <= 0 || area <= 0 ? 0 : round((width * height) / area);
  };
  const TOP = { document, dx: 0, dy: 0, url: null };
  const bboxOf = (box, place = TOP) => [
    round(box.left + place.dx), round(box.top + place.dy), round(box.width), round(box.height),
  ];
  const styleOf = (element) => documentOf(element).defaultView.getComputedStyle(element);
  // The page and every readable frame in it, each with the position of its corner.
  const inside = (frame, place) => {
    const inner = frame.contentDocument;
    if (!inner || !inner.defaultView) return null;
    const box = frame.getBoundingClientRect();
    return {
      document: inner, dx: place.dx + box.left + frame.clientLeft,
      dy: place.dy + box.top + frame.clientTop, url: cut(inner.URL, URL_BYTES),
    };
  };
  const places = () => {
    const out = [TOP];
    for (let at = 0; at < out.length && out.length <= MAX_FRAMES; at += 1)
      for (const frame of out[at].document.querySelectorAll("iframe,frame")) {
        const place = inside(frame, out[at]);
        if (place) out.push(place);
      }
    return out;
  };
  const isShown = (style, box) =>
    box.width > 0 && box.height > 0 && style.visibility === "visible" && style.opacity !== "0";
  const INTERACTIVE_TAGS = new Set([
    "a", "button", "input", "select", "textarea", "option", "summary", "label",
  ]);
  const isInteractive = (element, style) =>
    INTERACTIVE_TAGS.has(tagOf(element)) ||
    hasAttribute(element, "onclick") ||
    hasAttribute(element, "tabindex") ||
    isEditable(element) === true ||
    (style.cursor === "pointer" &&
      (!parentOf(element) || styleOf(parentOf(element)).cursor !== "pointer"));
  // What a click at a point of the viewport hits, through shadow roots and frames.
  const meet = (x, y) => {
    let root = document;
    let place = TOP;
    let hit = null;
    for (let depth = 0; depth < MAX_FRAMES; depth += 1) {
      const next = root.elementFromPoint(x - place.dx, y - place.dy);
      if (!next || next === hit) break;
      hit = next;
      const within = tagOf(hit) === "iframe" ? inside(hit, place) : null;
      if (within) place = within;
      else if (!shadowOf(hit)) break;
      root = within ? within.document : shadowOf(hit);
    }
    return { hit, place };
  };
  const reaches = (element, x, y) => {
    const { hit } = meet(x, y);
    return hit !== null && (hit === element || contains(element, hit));
  };
  const describe = (element, place) => {
    const tag = tagOf(element);
    if (tag === "script" || tag === "style") return null;
    const box = boxOf(element);
    if (box.width <= 0 || box.height <= 0) return null;
    const text = ownText(element);
    const style = styleOf(element);
    const interactive = isInteractive(element, style);
    if (!interactive && !text && tag !== "img" && tag !== "canvas" &&
        !isSvg(element)) return null;
    if (!isShown(style, box)) return null;
    const x = place.dx + box.left + box.width / 2;
    const y = place.dy + box.top + box.height / 2;
    return {
      role: roleOf(element), name: nameOf(element), tag: cut(tag, LABEL_BYTES), text,
      bbox: bboxOf(box, place), value: valueOf(element), interactive, visible: share(box, place),
      covered: !reaches(element, x, y), frame: place.url,
    };
  };
  const elements = (all) => {
    const out = [];
    let seen = 0;
    for (const place of all)
      for (const element of place.document.body ? place.document.body.querySelectorAll("*") : []) {
        seen += 1;
        if (out.length >= MAX_ELEMENTS || seen > MAX_NODES) return out;
        const found = describe(element, place);
        if (found) out.push(found);
      }
    return out;
  };
  const formState = (all, masked) => {
    const out = [];
    for (const place of all)
      for (const control of place.document.querySelectorAll("input,textarea,select")) {
        const value = masked.includes(control.name) ? "" : control.value;
        out.push([tagOf(control), control.type, value, Boolean(control.checked)]);
      }
    return JSON.stringify(out);
  };
  const focusIn = (where) => {
    const element = where.activeElement;
    if (!element || element === where.body) return null;
    const same = [...where.getElementsByTagName(tagName(element))];
    const [id, name] = [attribute(element, "id"), attribute(element, "name")];
    const said =
      `${tagOf(element)}${id ? "#" + id : ""}${name ? `[${name}]` : ""}` +
      `:${same.indexOf(element)}`;
    const within = tagOf(element) === "iframe" && element.contentDocument
      ? focusIn(element.contentDocument) : null;
    return squeeze(within ? `${said} ${within}` : said);
  };
  // The source of a document, without the values of the fields with these names.
  const sourceOf = (root, masked) => {
    if (!root) return "";
    if (!masked.length) return root.outerHTML;
    const copy = root.cloneNode(true);
    for (const field of copy.querySelectorAll("input[name],textarea[name],select[name]"))
      if (masked.includes(field.name)) {
        field.removeAttribute("value");
        field.textContent = "";
      }
    return copy.outerHTML;
  };
  const domOf = (all, masked) =>
    all.map((place) => sourceOf(place.document.documentElement, masked))
      .join("\n<!-- frame -->\n");
  const observe = (masked = []) => {
    const all = places();
    return {
      url: cut(location.href, URL_BYTES), title: cut(document.title, TITLE_BYTES),
      form: formState(all, masked), focus: focusIn(document), scrollX: round(scrollX),
      scrollY: round(scrollY), dom: domOf(all, masked), elements: elements(all),
      sights: globalThis.stepmill.sights(all),
    };
  };
  const target = (x, y) => {
    const { hit, place } = meet(x, y);
    if (!hit) return null;
    const box = boxOf(hit);
    const { shownText } = globalThis.stepmill;
    const shown = squeeze(shownText(hit, place));
    const label = labelOf(hit) ? squeeze(shownText(labelOf(hit), place, hit)) : "";
    return {
      tag: cut(tagOf(hit), LABEL_BYTES), role: roleOf(hit) || null, name: label || shown || null,
      text: shown || null, bbox: bboxOf(box, place), visible: share(box, place), frame: place.url,
    };
  };
  const choose = (x, y, option) => {
    const { hit } = meet(x, y);
    const list = hit ? closest(hit, "select") : null;
    if (!list) return "there is no list at that point";
    const wanted = squeeze(option);
    const chosen = [...list.options].find(
      (item) => squeeze(item.label) === wanted || squeeze(item.text) === wanted ||
        item.value === option);
    if (!chosen) return `the list has no option '${wanted}'`;
    list.focus();
    if (list.multiple) chosen.selected = true;
    else list.value = chosen.value;
    chosen.selected = true;
    list.dispatchEvent(new Event("input", { bubbles: true }));
    list.dispatchEvent(new Event("change", { bubbles: true }));
    return null;
  };
  const selectAll = () => {
    const element = document.activeElement;
    if (element && typeof element.select === "function") element.select();
    else document.getSelection().selectAllChildren(element || document.body);
  };
  const MAX_CLIPPED = 1000000;
  const focused = () => {
    let element = document.activeElement || document.body;
    for (;;) {
      const root = element.shadowRoot || (element.tagName === "IFRAME" ? element.contentDocument : null);
      const next = root && (root.activeElement || root.body);
      if (!next) return element;
      element = next;
    }
  };
  // Copies, cuts or pastes by a clipboard that is handed in, with the events that the browser would send.
  const clip = (operation, text) => {
    const element = focused();
    const page = element.ownerDocument;
    const field = element.matches("input,textarea") && element.selectionStart !== null;
    const chosen = field
      ? element.value.slice(element.selectionStart, element.selectionEnd)
      : String(page.getSelection());
    const held = new DataTransfer();
    if (operation === "paste") held.setData("text/plain", text);
    const goesOn = element.dispatchEvent(new ClipboardEvent(
      operation, { clipboardData: held, bubbles: true, cancelable: true, composed: true }));
    const writable = field ? !element.readOnly && !element.disabled : element.isContentEditable;
    if (operation === "paste") {
      if (goesOn && writable) page.execCommand("insertText", false, text);
      return null;
    }
    if (!goesOn) return held.getData("text/plain").slice(0, MAX_CLIPPED);
    if (!chosen || element.type === "password") return null;
    if (operation === "cut" && writable) page.execCommand("delete");
    return chosen.slice(0, MAX_CLIPPED);
  };

  // The privileged view.
  const STYLES = ["background-color", "font-size", "overflow-x", "overflow-y", "position"];
  const PROBES = [
    [0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75], [0.1, 0.5], [0.9, 0.5],
    [0.5, 0.1], [0.5, 0.9], [0.25, 0.25], [0.75, 0.75], [0.25, 0.75], [0.75, 0.25],
    [0.06, 0.06], [0.94, 0.94], [0.06, 0.94], [0.94, 0.06],
  ];
  const VIEW = () => ({ left: 0, top: 0, right: innerWidth, bottom: innerHeight });
  const meetBox = (one, other) => ({
    left: Math.max(one.left, other.left), top: Math.max(one.top, other.top),
    right: Math.min(one.right, other.right), bottom: Math.min(one.bottom, other.bottom),
  });
  const clipsAt = (style) => style.overflowX !== "visible" || style.overflowY !== "visible";
  // The first px of the picture that is not before a coordinate.
  const onPixel = (at) => Math.ceil(at * devicePixelRatio - 0.001) / devicePixelRatio;
  const pointIn = (element, box, clip) => {
    const rects = [...rectsOf(element)].slice(0, 8);
    for (const rect of rects.length > 1 ? [box, ...rects] : [box]) {
      const seen = meetBox(rect, clip);
      if (seen.right <= seen.left || seen.bottom <= seen.top) continue;
      for (const [across, down] of PROBES) {
        const x = onPixel(seen.left + (seen.right - seen.left) * across);
        const y = onPixel(seen.top + (seen.bottom - seen.top) * down);
        if (x >= innerWidth || y >= innerHeight) continue;
        if (reaches(element, x, y)) return [x, y];
      }
    }
    return null;
  };
  const wordsOf = (element, count) => {
    const out = [];
    const { range } = count;
    for (const child of nodesOf(element)) {
      if (child.nodeType !== 3) continue;
      for (const found of child.data.matchAll(/\S+/g)) {
        if (count.words >= MAX_WORDS) return out;
        count.words += 1;
        range.setStart(child, found.index);
        range.setEnd(child, found.index + found[0].length);
        out.push([cut(found[0], LABEL_BYTES), bboxOf(range.getBoundingClientRect())]);
      }
    }
    return out;
  };
  const read = (element, count, outer) => {
    count.nodes += 1;
    const box = boxOf(element);
    const style = getComputedStyle(element);
    // An absolutely positioned element may leave the boxes that clip its neighbours.
    const clip = style.position === "absolute" || style.position === "fixed" ? VIEW() : outer;
    const inside = element !== document.body && clipsAt(style) ? meetBox(clip, box) : clip;
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
    for (const child of childrenOf(element)) {
      if (count.nodes >= MAX_NODES) break;
      const childTag = tagOf(child);
      if (childTag !== "script" && childTag !== "style" && childTag !== "head")
        children.push(read(child, count, inside));
    }
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
    return {
      tag: cut(tag, LABEL_BYTES), attrs,
      text: squeeze(fullText(element), 4000),
      own_text: ownText(element, 2000), box: bboxOf(box),
      point: shown ? pointIn(element, box, clip) : null, shown, style: count.styles.get(styles),
      value: CONTROLS.has(tag) && tag !== "button" ? cut(element.value || "", GOAL_BYTES) : null,
      checked: checkable ? element.checked : null, selected,
      scroll: scrolls ? [px.scrollLeft(element), px.scrollTop(element), px.scrollWidth(element),
        px.scrollHeight(element)] : null,
      inner, focused: document.activeElement === element,
      words: shown ? wordsOf(element, count) : [], children,
    };
  };
  return {
    observe, target, choose, selectAll, clip, cut,
    parts: { // for sight.js and motion.js
      bboxOf, meet, styleOf, cut, LABEL_BYTES, isSvg, tagOf, childrenOf, nodesOf, parentOf,
      documentOf, rootOf, shadowOf, contains, order, boxOf,
      documents: () => places().map((place) => place.document),
    },
    read: () => {
      const count = { nodes: 0, words: 0, styles: new Map(), range: document.createRange() };
      const root = read(document.documentElement, count, VIEW());
      return { root, styles: [...count.styles.keys()].map((styles) => JSON.parse(styles)) };
    },
  };
})();
