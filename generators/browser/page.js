// Installed once in each document's isolated world: it sees the document, none of the page's
// variables, and the page sees nothing of it.
globalThis.stepmill = (() => {
  const MAX_ELEMENTS = 400;
  const MAX_TEXT = 200;
  const MAX_NODES = 20000;
  const MAX_WORDS = 2000;
  const squeeze = (text, most = MAX_TEXT) => {
    const flat = (text || "").replace(/\s+/g, " ").trim();
    return flat.length > most ? flat.slice(0, most) : flat;
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
  const tagOf = (element) => element.localName;
  const roleOf = (element) => {
    const explicit = element.getAttribute("role");
    if (explicit) return squeeze(explicit, 40);
    if (tagOf(element) === "input") return INPUT_ROLES[element.type] || "textbox";
    return ROLES[tagOf(element)] || "";
  };
  const ownText = (element, most = MAX_TEXT) => {
    let text = "";
    for (const child of element.childNodes) if (child.nodeType === 3) text += child.data;
    return squeeze(text, most);
  };
  const textOf = (element) =>
    squeeze(element.innerText === undefined ? element.textContent : element.innerText);
  const nameOf = (element) => {
    const labelled = element.getAttribute("aria-label");
    if (labelled) return squeeze(labelled);
    if (element.labels && element.labels.length) return textOf(element.labels[0]);
    for (const attribute of ["alt", "placeholder", "title", "name"]) {
      const value = element.getAttribute(attribute);
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
  const share = (box, view) => {
    const width = Math.min(box.right, view.innerWidth) - Math.max(box.left, 0);
    const height = Math.min(box.bottom, view.innerHeight) - Math.max(box.top, 0);
    const area = box.width * box.height;
    return width <= 0 || height <= 0 || area <= 0 ? 0 : round((width * height) / area);
  };
  const bboxOf = (box) => [round(box.left), round(box.top), round(box.width), round(box.height)];
  const isShown = (style, box) =>
    box.width > 0 && box.height > 0 && style.visibility === "visible" && style.opacity !== "0";
  const INTERACTIVE_TAGS = new Set([
    "a", "button", "input", "select", "textarea", "option", "summary", "label",
  ]);
  const isInteractive = (element, style) =>
    INTERACTIVE_TAGS.has(tagOf(element)) ||
    element.hasAttribute("onclick") ||
    element.hasAttribute("tabindex") ||
    element.isContentEditable === true ||
    (style.cursor === "pointer" &&
      (!element.parentElement || getComputedStyle(element.parentElement).cursor !== "pointer"));
  const deepest = (x, y) => {
    let root = document;
    let hit = null;
    for (let depth = 0; depth < 20; depth += 1) {
      const next = root.elementFromPoint(x, y);
      if (!next || next === hit) return hit;
      hit = next;
      if (!hit.shadowRoot) return hit;
      root = hit.shadowRoot;
    }
    return hit;
  };
  const reaches = (element, x, y) => {
    const hit = deepest(x, y);
    return hit !== null && (hit === element || element.contains(hit));
  };
  const elements = () => {
    const out = [];
    let seen = 0;
    for (const element of document.body ? document.body.querySelectorAll("*") : []) {
      seen += 1;
      if (out.length >= MAX_ELEMENTS || seen > MAX_NODES) break;
      const tag = tagOf(element);
      if (tag === "script" || tag === "style") continue;
      const box = element.getBoundingClientRect();
      if (box.width <= 0 || box.height <= 0) continue;
      const text = ownText(element);
      const style = getComputedStyle(element);
      const interactive = isInteractive(element, style);
      if (!interactive && !text && tag !== "img" && tag !== "canvas" &&
          !(element.namespaceURI || "").endsWith("svg")) continue;
      if (!isShown(style, box)) continue;
      out.push({
        role: roleOf(element), name: nameOf(element), tag, text, bbox: bboxOf(box),
        value: valueOf(element), interactive, visible: share(box, window),
        covered: !reaches(element, box.left + box.width / 2, box.top + box.height / 2),
      });
    }
    return out;
  };
  const formState = () => {
    const out = [];
    for (const control of document.querySelectorAll("input,textarea,select"))
      out.push([tagOf(control), control.type, control.value, Boolean(control.checked)]);
    return JSON.stringify(out);
  };
  const focusOf = () => {
    const element = document.activeElement;
    if (!element || element === document.body) return null;
    const same = [...document.getElementsByTagName(element.tagName)];
    const name = element.getAttribute("name");
    return squeeze(
      `${tagOf(element)}${element.id ? "#" + element.id : ""}${name ? `[${name}]` : ""}` +
      `:${same.indexOf(element)}`);
  };
  const observe = () => ({
    url: location.href, title: document.title, form: formState(), focus: focusOf(),
    scrollX: round(scrollX), scrollY: round(scrollY),
    dom: document.documentElement ? document.documentElement.outerHTML : "",
    elements: elements(),
  });
  const target = (x, y) => {
    const element = deepest(x, y);
    if (!element) return null;
    const box = element.getBoundingClientRect();
    return {
      tag: tagOf(element), role: roleOf(element) || null, name: nameOf(element) || null,
      text: textOf(element) || null, bbox: bboxOf(box), visible: share(box, window),
    };
  };
  const choose = (x, y, option) => {
    const hit = deepest(x, y);
    const list = hit ? hit.closest("select") : null;
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
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => resolve(true)));

  // The privileged view.
  const STYLES = [
    "color", "background-color", "background-image", "border-top-color", "font-size",
    "font-weight", "font-style", "font-family", "text-decoration-line", "text-align", "display",
    "position", "cursor", "fill", "stroke", "transform", "z-index", "resize", "opacity",
    "overflow-x", "overflow-y", "visibility",
  ];
  const PROBES = [
    [0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75], [0.1, 0.5], [0.9, 0.5],
    [0.5, 0.1], [0.5, 0.9], [0.25, 0.25], [0.75, 0.75], [0.25, 0.75], [0.75, 0.25],
    [0.06, 0.06], [0.94, 0.94], [0.06, 0.94], [0.94, 0.06],
  ];
  const pointIn = (element, box) => {
    for (const rect of [box, ...[...element.getClientRects()].slice(0, 8)])
      for (const [across, down] of PROBES) {
        const x = round(rect.left + rect.width * across);
        const y = round(rect.top + rect.height * down);
        if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) continue;
        if (reaches(element, x, y)) return [x, y];
      }
    return null;
  };
  const wordsOf = (element, count) => {
    const out = [];
    const range = document.createRange();
    for (const child of element.childNodes) {
      if (child.nodeType !== 3) continue;
      for (const found of child.data.matchAll(/\S+/g)) {
        if (count.words >= MAX_WORDS) return out;
        count.words += 1;
        range.setStart(child, found.index);
        range.setEnd(child, found.index + found[0].length);
        out.push([found[0], bboxOf(range.getBoundingClientRect())]);
      }
    }
    return out;
  };
  const read = (element, count) => {
    count.nodes += 1;
    const box = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    const shown = isShown(style, box) ||
      (element.namespaceURI || "").endsWith("svg") && style.visibility === "visible" &&
        style.display !== "none";
    const tag = tagOf(element);
    const attrs = {};
    for (const attribute of element.attributes) attrs[attribute.name] = attribute.value;
    const styles = {};
    for (const name of STYLES) styles[name] = style.getPropertyValue(name);
    const children = [];
    for (const child of element.children) {
      if (count.nodes >= MAX_NODES) break;
      const childTag = tagOf(child);
      if (childTag !== "script" && childTag !== "style" && childTag !== "head")
        children.push(read(child, count));
    }
    const scrolls = element.scrollHeight > element.clientHeight + 1 ||
      element.scrollWidth > element.clientWidth + 1;
    const checkable = tag === "input" && (element.type === "checkbox" || element.type === "radio");
    let selected = null;
    if (tag === "select" && element.selectedIndex >= 0)
      selected = squeeze(element.options[element.selectedIndex].text);
    else if (tag === "textarea" || (tag === "input" && element.type === "text"))
      selected = element.value.slice(element.selectionStart, element.selectionEnd);
    return {
      tag, attrs, text: squeeze(element.innerText === undefined ? element.textContent
        : element.innerText, 4000),
      own_text: ownText(element, 2000), box: bboxOf(box),
      point: shown ? pointIn(element, box) : null, shown, style: styles,
      value: CONTROLS.has(tag) && tag !== "button" ? element.value : null,
      checked: checkable ? element.checked : null, selected,
      scroll: scrolls ? [element.scrollLeft, element.scrollTop, element.scrollWidth,
        element.scrollHeight] : null,
      inner: [element.clientWidth, element.clientHeight],
      focused: document.activeElement === element, words: shown ? wordsOf(element, count) : [],
      children,
    };
  };
  return {
    observe, target, choose, selectAll, frame,
    read: () => read(document.documentElement, { nodes: 0, words: 0 }),
  };
})();
