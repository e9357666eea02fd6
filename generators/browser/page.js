// Installed once in each document's isolated world: it sees the document but none of the page's
// variables, and the page cannot see it.
globalThis.stepmill = (() => {
  const MAX_ELEMENTS = 400;
  const MAX_TEXT = 200;
  const MAX_NODES = 20000;
  const MAX_BOXES = 200000;
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
  const LIST = "stepmill-list"; // what lists.js draws
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
  const nodeAbove = own("parentNode");
  const slotOf = own("assignedSlot");
  const typeOf = own("nodeType");
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
  // A document and all shadow roots in it.
  const scopesOf = (page) => {
    const found = [page];
    for (let at = 0; at < found.length; at += 1)
      for (const element of found[at].querySelectorAll("*")) {
        const root = shadowOf(element);
        if (root && tagOf(element) !== LIST) found.push(root);
      }
    return found;
  };
  // The document and those of all readable frames, which is far less work than `places`.
  const pages = () => {
    const out = [document];
    const walk = (view) => {
      for (let n = 0; n < view.length && out.length <= MAX_FRAMES; n += 1) {
        try {
          const page = view[n].document;
          if (page && page.defaultView) {
            out.push(page);
            walk(view[n]);
          }
        } catch {
          // a frame of another origin
        }
      }
    };
    walk(window);
    return out;
  };
  const places = () => {
    const out = [{ ...TOP, scopes: scopesOf(document) }];
    for (let at = 0; at < out.length && out.length <= MAX_FRAMES; at += 1)
      for (const scope of out[at].scopes)
        for (const frame of scope.querySelectorAll("iframe,frame")) {
          const place = inside(frame, out[at]);
          if (place) out.push({ ...place, scopes: scopesOf(place.document) });
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
      let next = root.elementFromPoint(x - place.dx, y - place.dy);
      // A text that a slot is given stands in the host, whatever the slot is in.
      if (next === hit && root.host === hit) [next] = root.elementsFromPoint(x - place.dx, y - place.dy);
      if (!next || next === hit) break;
      hit = next;
      const within = tagOf(hit) === "iframe" ? inside(hit, place) : null;
      if (within) place = within;
      else if (!shadowOf(hit)) break;
      root = within ? within.document : shadowOf(hit);
    }
    return { hit, place };
  };
  // Whether an element is another or around it, as a page is drawn: through shadow roots and their slots.
  const isAround = (element, inner) => {
    for (let at = inner; at; ) {
      if (at === element) return true;
      if (typeOf(at) === Node.ELEMENT_NODE) at = slotOf(at) || nodeAbove(at);
      else at = at.host || null; // of a shadow root; a document has none
    }
    return false;
  };
  const reaches = (element, x, y) => isAround(element, meet(x, y).hit);
  // Whether an element is one to list, by its tag, text and style; its box is not empty.
  const isListed = (element, box, style, interactive) => {
    const tag = tagOf(element);
    if (tag === "script" || tag === "style") return false;
    if (!interactive && tag !== "img" && tag !== "canvas" && !ownText(element) && !isSvg(element)) return false;
    return isShown(style, box);
  };
  const describe = (element, place) => {
    const box = boxOf(element);
    const style = styleOf(element);
    const interactive = isInteractive(element, style);
    if (!isListed(element, box, style, interactive)) return null;
    const x = place.dx + box.left + box.width / 2;
    const y = place.dy + box.top + box.height / 2;
    return {
      role: roleOf(element), name: nameOf(element), tag: cut(tagOf(element), LABEL_BYTES),
      text: ownText(element), bbox: bboxOf(box, place), value: valueOf(element), interactive,
      visible: share(box, place), covered: !reaches(element, x, y), frame: place.url,
    };
  };
  // All elements below a node, those of a shadow root after its host.
  const below = function* below(node) {
    for (const element of node.querySelectorAll("*")) {
      yield element;
      const root = shadowOf(element);
      if (root) yield* below(root);
    }
  };
  // How far a box is from the viewport, in px; 0 if it reaches into it.
  const distance = (box, place) => {
    const [left, top] = [box.left + place.dx, box.top + place.dy];
    const across = Math.max(0, left - innerWidth, -left - box.width);
    return across + Math.max(0, top - innerHeight, -top - box.height);
  };
  // What is in sight and, as far as there is room, what is near, in the order of the document; and how
  // many more there are.
  const elements = (all) => {
    const boxed = [];
    let seen = 0;
    for (const place of all)
      for (const element of place.document.body ? below(place.document.body) : []) {
        seen += 1;
        if (seen > MAX_BOXES) break;
        const box = boxOf(element);
        if (box.width > 0 && box.height > 0)
          boxed.push({ element, place, at: boxed.length, far: distance(box, place) });
      }
    const list = globalThis.stepmill.drawn();
    if (list)
      for (const element of list.root.querySelectorAll("*"))
        boxed.push({ element, place: TOP, at: boxed.length, far: 0 });
    if (boxed.length > MAX_ELEMENTS) boxed.sort((one, other) => one.far - other.far || one.at - other.at);
    const found = [];
    let leftOut = 0;
    for (const { element, place, at } of boxed) {
      if (found.length < MAX_ELEMENTS) {
        const listed = describe(element, place);
        if (listed) found.push({ at, listed });
      } else {
        const style = styleOf(element);
        if (isListed(element, boxOf(element), style, isInteractive(element, style))) leftOut += 1;
      }
    }
    found.sort((one, other) => one.at - other.at);
    return { elements: found.map((one) => one.listed), leftOut };
  };
  const formState = (all, masked) => {
    const out = [];
    for (const place of all)
      for (const scope of place.scopes)
        for (const control of scope.querySelectorAll("input,textarea,select")) {
          const value = masked.includes(control.name) ? "" : control.value;
          out.push([tagOf(control), control.type, value, Boolean(control.checked)]);
        }
    return JSON.stringify(out);
  };
  const focusIn = (where) => {
    const element = where.activeElement;
    if (!element || element === where.body) return null;
    const same = where.getElementsByTagName
      ? [...where.getElementsByTagName(tagName(element))]
      : [...where.querySelectorAll(CSS.escape(tagOf(element)))];
    const [id, name] = [attribute(element, "id"), attribute(element, "name")];
    const said =
      `${tagOf(element)}${id ? "#" + id : ""}${name ? `[${name}]` : ""}` +
      `:${same.indexOf(element)}`;
    const inner = tagOf(element) === "iframe" ? element.contentDocument : shadowOf(element);
    const within = inner ? focusIn(inner) : null;
    return squeeze(within ? `${said} ${within}` : said);
  };
  // The source of a document, without the values of the fields with these names.
  const sourceOf = (root, masked) => {
    if (!root) return "";
    const list = globalThis.stepmill.drawn();
    const ours = list && contains(root, list.host) ? list.host.outerHTML : null;
    if (!masked.length) return ours ? root.outerHTML.replace(ours, "") : root.outerHTML;
    const copy = root.cloneNode(true);
    for (const field of copy.querySelectorAll("input[name],textarea[name],select[name]"))
      if (masked.includes(field.name)) {
        field.removeAttribute("value");
        field.textContent = "";
      }
    return ours ? copy.outerHTML.replace(ours, "") : copy.outerHTML;
  };
  const domOf = (all, masked) =>
    all.map((place) => {
      const [page, ...roots] = place.scopes;
      return [
        sourceOf(page.documentElement, masked),
        ...roots.flatMap((root) => [...root.children].map((one) => sourceOf(one, masked))),
      ].join("\n<!-- shadow -->\n");
    }).join("\n<!-- frame -->\n");
  const observe = (masked = []) => {
    const all = places();
    return {
      url: cut(location.href, URL_BYTES), title: cut(document.title, TITLE_BYTES),
      form: formState(all, masked), focus: focusIn(document), scrollX: round(scrollX),
      scrollY: round(scrollY), dom: domOf(all, masked), ...elements(all),
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
  return {
    observe, target, cut,
    parts: { // for the scripts that follow
      CONTROLS, GOAL_BYTES, LABEL_BYTES, LIST, MAX_NODES, TOP, attribute, attributesOf, bboxOf, boxOf, childrenOf,
      closest, contains, cut, documentOf, fullText, inside, isAround, isShown, isSvg, meet, nodesOf, order, ownText,
      pages, parentOf, places, px, reaches, rectsOf, rootOf, shadowOf, squeeze, styleOf, tagOf,
    },
  };
})();
