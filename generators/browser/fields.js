// What actions do in a page beside input events: in the isolated world, after page.js.
(() => {
  const { closest, meet, shadowOf, squeeze, tagOf } = globalThis.stepmill.parts;
  const MAX_CLIPPED = 1000000;
  const MAX_NAMED = 5;
  // The options of a list that somebody means by a word: by its label or text, else by its value.
  const meant = (list, option) => {
    const wanted = squeeze(option);
    const all = [...list.options];
    const named = all.filter((item) => squeeze(item.label) === wanted || squeeze(item.text) === wanted);
    const valued = all.filter((item) => item.value === option);
    return valued.length === 1 && named.length !== 1 ? valued : named.length ? named : valued;
  };
  const isClosed = (item) => {
    const group = closest(item, "optgroup");
    const hidden = item.hidden || getComputedStyle(item).display === "none";
    return item.disabled || hidden || (group !== null && (group.disabled || group.hidden));
  };
  // Chooses an option of the list at a point; returns why no mouse could.
  const choose = (x, y, option) => {
    const { hit } = meet(x, y);
    const list = hit ? closest(hit, "select") : null;
    if (!list) return "there is no list at that point";
    const wanted = squeeze(option);
    if (list.matches(":disabled")) return `the list is disabled, so '${wanted}' cannot be chosen`;
    const found = meant(list, option);
    if (!found.length) return `the list has no option '${wanted}'`;
    if (found.length > 1) {
      const values = found.slice(0, MAX_NAMED).map((item) => `'${squeeze(item.value, 40)}'`);
      return `the list has ${found.length} options '${wanted}': choose one by its value, of ${values.join(", ")}`;
    }
    const [chosen] = found;
    if (isClosed(chosen)) return `the option '${wanted}' is disabled`;
    list.focus();
    if (chosen.selected) return null;
    chosen.selected = true;
    list.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    list.dispatchEvent(new Event("change", { bubbles: true }));
    return null;
  };
  // What has the keyboard, through shadow roots and frames.
  const focused = () => {
    let element = document.activeElement || document.body;
    for (;;) {
      const root = shadowOf(element) || (tagOf(element) === "iframe" ? element.contentDocument : null);
      const next = root && (root.activeElement || root.body);
      if (!next) return element;
      element = next;
    }
  };
  const selectAll = () => {
    const element = focused();
    if (typeof element.select === "function") element.select();
    else element.ownerDocument.getSelection().selectAllChildren(element);
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
  Object.assign(globalThis.stepmill, { choose, selectAll, clip });
})();
