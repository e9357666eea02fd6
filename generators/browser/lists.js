// Draws what a browser with a window draws over a page and a headless one does not, or draws where no
// click reaches it: the open list of a <select>, the suggestions of a <datalist>, and the word on a field
// that is wrong. Each stands in the top layer, in the isolated world, and the page hears nothing of it; it
// gets the events of a native list when one is chosen.
(() => {
  const { LIST, TOP, boxOf, closest, documentOf, pages, places, squeeze, styleOf, tagOf } = globalThis.stepmill.parts;
  const MAX_ROWS = 20;
  const MAX_ITEMS = 1000;
  const TYPE_AHEAD_MS = 1000;
  const BUBBLE_MS = 5000;
  const MS_FOR_LETTER = 50;
  const LOOK = `
    :host { all: initial; position: fixed; inset: auto; margin: 0; padding: 0; border: 0; overflow: visible }
    .list { box-sizing: border-box; overflow: hidden auto; background: #fff; color: #000; border: 1px solid #767676 }
    .list div { box-sizing: border-box; min-height: 24px; padding: 4px; white-space: pre; cursor: default; overflow: hidden }
    .list .group { font-weight: bold }
    .list .inner { padding-left: 20px }
    .list .off { color: #767676 }
    .list .on { background: #1967d2; color: #fff }
    .bubble { position: relative; box-sizing: border-box; width: max-content; max-width: 250px; min-height: 40px;
      margin-top: 9px; padding: 11px 9px 11px 39px; background: #fff; color: #000; border: 1px solid #808080;
      border-radius: 4px; box-shadow: 4px 4px 8px #00000055; font: 14px/16px system-ui, sans-serif }
    .bubble b { position: absolute; left: 8px; top: 8px; width: 23px; height: 23px; border-radius: 2px;
      background: #e8590c; color: #fff; font: bold 18px/23px sans-serif; text-align: center }
    .bubble i { position: absolute; top: -6px; width: 10px; height: 10px; transform: rotate(45deg); background: #fff;
      border: 1px solid #808080; border-right: 0; border-bottom: 0 }`;
  let shown = null; // what is drawn: its host, root and field, and for a list its rows
  const close = () => {
    if (!shown) return;
    const { host, end } = shown;
    host.remove();
    shown = null;
    if (end) end();
  };
  const placeOf = (element) =>
    places().find((place) => place.document === documentOf(element)) || TOP;
  // Puts a box under the field, or above it where there is more room; one with a look of its own is never cut.
  const draw = (field, inner, look = null) => {
    close();
    const host = document.createElement(LIST);
    const root = host.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(LOOK);
    root.adoptedStyleSheets = look ? [sheet, look] : [sheet];
    root.append(inner);
    host.popover = "manual";
    const modal = documentOf(field) === document ? closest(field, "dialog:modal") : null;
    (modal || document.documentElement).append(host);
    host.showPopover();
    const [box, place] = [boxOf(field), placeOf(field)];
    const [left, top] = [box.left + place.dx, box.top + place.dy];
    const below = innerHeight - top - box.height;
    const goesUp = below < Math.min(inner.offsetHeight, look ? Infinity : 150) && top > below;
    inner.style.maxHeight = `${look ? innerHeight : Math.max(24, Math.floor(goesUp ? top : below))}px`;
    const x = Math.max(0, Math.min(left, innerWidth - inner.offsetWidth));
    const beside = goesUp ? top - inner.offsetHeight : top + box.height;
    const y = look ? Math.max(0, Math.min(beside, innerHeight - inner.offsetHeight)) : beside;
    host.style.left = `${Math.round(x)}px`;
    host.style.top = `${Math.round(y)}px`;
    return { host, root, field, inner };
  };
  const mark = (at) => {
    for (const [n, row] of shown.rows.entries()) row.element.classList.toggle("on", n === at);
    shown.at = at;
    if (at >= 0) shown.rows[at].element.scrollIntoView({ block: "nearest" });
  };
  // Opens a list of rows: each has a text, an item, and whether it is a group, within one, or off.
  const open = (field, rows, { at, pick }) => {
    const list = document.createElement("div");
    list.className = "list";
    list.setAttribute("role", "listbox");
    const style = styleOf(field);
    list.style.font = style.font;
    for (const row of rows) {
      row.element = document.createElement("div");
      row.element.textContent = row.text || " ";
      row.element.setAttribute("role", row.isGroup ? "group" : "option");
      row.element.className = [row.isGroup && "group", row.isInner && "inner", row.isOff && "off"]
        .filter(Boolean).join(" ");
      if (!row.isGroup && !row.isOff) row.element.tabIndex = -1;
      list.append(row.element);
    }
    list.style.minWidth = `${Math.round(boxOf(field).width)}px`;
    const drawn = draw(field, list);
    const high = rows.slice(0, MAX_ROWS).reduce((sum, row) => sum + row.element.offsetHeight, 2);
    list.style.maxHeight = `${Math.min(high, parseInt(list.style.maxHeight, 10))}px`;
    if (parseFloat(drawn.host.style.top) < boxOf(field).top + placeOf(field).dy)
      drawn.host.style.top = `${Math.round(boxOf(field).top + placeOf(field).dy - list.offsetHeight)}px`;
    shown = { ...drawn, rows, pick, at: -1, typed: "", typedAt: 0 };
    mark(at);
  };
  const isClosed = (item) => {
    const group = closest(item, "optgroup");
    return item.disabled || (group !== null && group.disabled);
  };
  const isHidden = (item) => item.hidden || styleOf(item).display === "none";
  const rowsOf = (select) => {
    const rows = [];
    let group = null;
    for (const item of [...select.options].slice(0, MAX_ITEMS)) {
      const of = closest(item, "optgroup");
      if (of !== group && of !== null && !isHidden(of))
        rows.push({ text: squeeze(of.label), isGroup: true, isOff: of.disabled });
      group = of;
      if (!isHidden(item) && (of === null || !isHidden(of)))
        rows.push({ text: squeeze(item.label), item, isInner: of !== null, isOff: isClosed(item) });
    }
    return rows;
  };
  const isList = (element) =>
    tagOf(element) === "select" && !element.multiple && element.size <= 1 && !element.matches(":disabled");
  const openSelect = (select) => {
    const rows = rowsOf(select);
    if (!rows.length) return;
    const at = rows.findIndex((row) => row.item && row.item.selected);
    const pick = (row) => {
      if (!row.item.selected) {
        row.item.selected = true;
        select.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
        select.dispatchEvent(new Event("change", { bubbles: true }));
      }
      select.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, composed: true }));
    };
    open(select, rows, { at, pick });
  };
  // The suggestions of a field that hold what is in it.
  const openSuggestions = (field) => {
    const wanted = field.value.toLowerCase();
    const rows = [...field.list.options]
      .filter((item) => !item.disabled && item.value)
      .filter((item) => `${item.value}\n${item.label}`.toLowerCase().includes(wanted))
      .slice(0, MAX_ITEMS)
      .map((item) => ({ item, text: squeeze(item.label === item.value ? item.value : `${item.value}  ${item.label}`) }));
    if (!rows.length) {
      close();
      return;
    }
    const pick = (row) => {
      field.value = row.item.value;
      const inserted = { bubbles: true, composed: true, inputType: "insertReplacementText", data: row.item.value };
      field.dispatchEvent(new InputEvent("input", inserted));
      field.dispatchEvent(new Event("change", { bubbles: true }));
    };
    open(field, rows, { at: -1, pick });
  };
  const suggests = (element) =>
    tagOf(element) === "input" && element.list && !element.readOnly && !element.matches(":disabled") &&
    !["range", "color", "date", "time", "month", "week", "datetime-local"].includes(element.type);
  const step = (by) => {
    const { rows } = shown;
    for (let at = shown.at + by; at >= 0 && at < rows.length; at += by)
      if (rows[at].item && !rows[at].isOff) return at;
    return shown.at;
  };
  const leap = (by) => {
    let at = shown.at;
    for (let n = 0; n < Math.abs(by); n += 1) {
      mark(step(Math.sign(by)));
      if (shown.at === at) break;
      at = shown.at;
    }
  };
  // As a native list: letters within a second are the beginning of a name, one letter again the next of it.
  const typeAhead = (letter, now) => {
    const { rows } = shown;
    shown.typed = now - shown.typedAt > TYPE_AHEAD_MS ? letter : shown.typed + letter;
    shown.typedAt = now;
    const isOne = [...shown.typed].every((one) => one === letter);
    const prefix = (isOne ? letter : shown.typed).toLowerCase();
    const from = shown.at + (isOne ? 1 : 0);
    for (let n = 0; n < rows.length; n += 1) {
      const at = (Math.max(from, 0) + n) % rows.length;
      const row = rows[at];
      if (row.item && !row.isOff && row.text.toLowerCase().trimStart().startsWith(prefix)) {
        mark(at);
        return;
      }
    }
  };
  const take = (at) => {
    const { rows, pick } = shown;
    close();
    if (at >= 0 && rows[at].item && !rows[at].isOff) pick(rows[at]);
  };
  const hide = (event) => {
    // A pointer's event that is prevented is followed by none of the mouse.
    if (!event.type.startsWith("pointer")) event.preventDefault();
    event.stopImmediatePropagation();
  };
  const onKey = (event) => {
    if (shown && shown.key) shown.key(event);
    if (!shown || !shown.rows) return;
    const isSelect = tagOf(shown.field) === "select";
    const { key } = event;
    const moves = {
      ArrowDown: 1, ArrowUp: -1, PageDown: MAX_ROWS, PageUp: -MAX_ROWS,
      ...(isSelect ? { End: MAX_ITEMS, Home: -MAX_ITEMS } : {}),
    };
    if (event.ctrlKey || event.metaKey) return;
    if (event.altKey && (key === "ArrowDown" || key === "ArrowUp")) {
      hide(event);
      take(shown.at);
    } else if (key in moves) {
      hide(event);
      leap(moves[key]);
    } else if (key === "Escape") {
      hide(event);
      close();
    } else if (key === "Enter" && (isSelect || shown.at >= 0)) {
      hide(event);
      take(shown.at);
    } else if (key === "Tab") {
      if (isSelect) take(shown.at);
      else close();
    } else if (isSelect && key.length === 1) {
      hide(event);
      if (key === " " && event.timeStamp - shown.typedAt > TYPE_AHEAD_MS) take(shown.at);
      else typeAhead(key, event.timeStamp);
    }
  };
  const OPENS = [" ", "Enter", "F4"];
  const onKeyAfter = (event) => {
    const element = event.composedPath()[0];
    if (event.defaultPrevented || !(element instanceof Element) && !element.ownerDocument) return;
    const withAlt = event.altKey && (event.key === "ArrowDown" || event.key === "ArrowUp");
    if (isList(element) && (withAlt || OPENS.includes(event.key)) && !event.ctrlKey) {
      event.preventDefault();
      openSelect(element);
    } else if (suggests(element) && (event.key === "ArrowDown" || event.key === "ArrowUp") && !shown) {
      event.preventDefault();
      openSuggestions(element);
    }
  };
  const isOurs = (event) => shown !== null && event.composedPath()[0].getRootNode() === shown.root;
  const rowAt = (event) => shown.rows
    ? shown.rows.findIndex((row) => row.element.contains(event.composedPath()[0]))
    : -1;
  const onPointer = (event) => {
    if (!isOurs(event)) return;
    if (event.type === "mousemove" && shown.rows) {
      const at = rowAt(event);
      if (at >= 0 && at !== shown.at && shown.rows[at].item && !shown.rows[at].isOff) mark(at);
    }
    const at = event.type === "mouseup" && event.button === 0 ? rowAt(event) : -1;
    hide(event);
    if (event.type === "mouseup" && event.button === 0 && shown.press) shown.press(event.composedPath()[0]);
    else if (at >= 0 && shown.rows[at].item && !shown.rows[at].isOff) take(at);
  };
  let wasOpenOn = null;
  const onPressBefore = (event) => {
    wasOpenOn = shown && (shown.rows || shown.key) ? shown.field : null;
    if (!isOurs(event)) close();
  };
  const onPress = (event) => {
    const element = event.composedPath()[0];
    if (event.defaultPrevented || event.button !== 0 || !element.ownerDocument) return;
    const select = closest(element, "select");
    if (select && isList(select)) {
      event.preventDefault();
      select.focus({ preventScroll: true, focusVisible: false });
      if (wasOpenOn !== select) openSelect(select);
    } else if (suggests(element) && wasOpenOn !== element) {
      const isFocused = element.getRootNode().activeElement === element;
      if (isFocused || event.offsetX > boxOf(element).width - 20) openSuggestions(element);
    }
  };
  const onInput = (event) => {
    const element = event.composedPath()[0];
    if (element.ownerDocument && suggests(element) && event.isTrusted && element.value) openSuggestions(element);
    else if (shown && shown.field === element && event.isTrusted) close();
  };
  // The browser's word on a wrong field, once its form has put the focus into it.
  const onInvalid = (event) => {
    const element = event.composedPath()[0];
    requestAnimationFrame(() => {
      const isFocused = element.isConnected && element.getRootNode().activeElement === element;
      if (event.defaultPrevented || !isFocused || !element.validationMessage) return;
      const bubble = document.createElement("div");
      bubble.className = "bubble";
      const [sign, words] = [document.createElement("b"), document.createElement("span")];
      sign.textContent = "!";
      words.textContent = element.validationMessage;
      const tip = document.createElement("i");
      bubble.append(sign, words, tip);
      const drawn = shown = draw(element, bubble);
      const [box, place] = [boxOf(element), placeOf(element)];
      const middle = box.left + place.dx + box.width / 2 - bubble.offsetWidth / 2;
      const left = Math.max(0, Math.min(middle, innerWidth - bubble.offsetWidth));
      const at = box.left + place.dx + Math.min(box.width / 2, 10) - left;
      drawn.host.style.left = `${Math.round(left)}px`;
      drawn.host.style.pointerEvents = "none";
      tip.style.left = `${Math.round(Math.max(4, Math.min(at, bubble.offsetWidth - 20)) - 5)}px`;
      const ms = Math.max(BUBBLE_MS, element.validationMessage.length * MS_FOR_LETTER);
      setTimeout(() => {
        if (shown === drawn) close();
      }, ms);
    });
  };
  const onLeave = (event) => {
    if (shown && event.composedPath()[0] === shown.field) close();
  };
  // A script asks for a picker (asks.js): what is opened here is not the browser's to open.
  const onAsked = (event) => {
    const field = event.composedPath()[0];
    event.stopImmediatePropagation();
    if (!documentOf(field).defaultView.navigator.userActivation.isActive) return;
    if (isList(field)) openSelect(field);
    else if (suggests(field)) openSuggestions(field);
    else if (!globalThis.stepmill.layer.openPicker(field)) return;
    event.preventDefault();
  };
  const hooked = new WeakSet();
  const follow = (page) => {
    const view = page.defaultView;
    if (!view || hooked.has(view)) return;
    hooked.add(view);
    const on = (type, handler, capture) => view.addEventListener(type, handler, { capture });
    for (const type of [
      "pointerdown", "pointerup", "pointermove", "mousemove", "mousedown", "mouseup", "click", "dblclick",
      "contextmenu", "auxclick", "mouseover", "mouseout", "pointerover", "pointerout",
    ]) on(type, onPointer, true);
    on("pointerdown", onPressBefore, true);
    on("keydown", onKey, true);
    on("mousedown", onPress, false);
    on("click", globalThis.stepmill.layer.openAfter, true);
    on("keydown", globalThis.stepmill.layer.openAfter, true);
    on("stepmill-picker", onAsked, true);
    on("keydown", onKeyAfter, false);
    on("input", onInput, true);
    on("invalid", onInvalid, true);
    on("blur", onLeave, true);
    view.addEventListener("scroll", (event) => {
      if (shown && !event.composedPath().includes(shown.host)) close();
    }, { capture: true });
  };
  Object.assign(globalThis.stepmill, {
    layer: {
      close, draw, hide,
      wasOpenOn: () => wasOpenOn,
      show: (what) => {
        shown = what;
      },
    },
    // Draws lists in this page and its frames from now on.
    drawLists: () => {
      follow(document);
      globalThis.stepmill.followFrames = () => {
        for (const page of pages()) follow(page);
        if (shown && !shown.field.isConnected) close();
      };
    },
    drawn: () => shown,
  });
})();
