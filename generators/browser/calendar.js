// Draws the calendar of a date field, after lists.js and in its layer: a native one takes no click where
// there is no window.
(() => {
  const { boxOf, tagOf } = globalThis.stepmill.parts;
  const { close, draw, hide, show } = globalThis.stepmill.layer;
  const DAY_MS = 86400000;
  const WEEK = 7;
  const SQUARES = 6 * WEEK;
  const INDICATOR_PX = 28;
  const MONTHS = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
  ];
  const iso = (day) => day.toISOString().slice(0, 10);
  const plus = (day, days) => new Date(day.getTime() + days * DAY_MS);
  const months = (day, by) => {
    const first = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + by, 1));
    const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
    return plus(first, Math.min(day.getUTCDate(), last) - 1);
  };
  const today = () => {
    const now = new Date(Date.now());
    return new Date(Date.UTC(now.getFullYear(), now.getMonth(), now.getDate()));
  };
  const part = (text, className, does) => {
    const element = document.createElement("div");
    element.textContent = text;
    element.className = className;
    element.setAttribute("role", does ? "button" : "presentation");
    if (does) element.tabIndex = -1;
    return { element, does };
  };
  const isOff = (field, day) => (field.min && iso(day) < field.min) || (field.max && iso(day) > field.max);
  const set = (field, value) => {
    close();
    if (field.value === value) return;
    field.value = value;
    field.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    field.dispatchEvent(new Event("change", { bubbles: true }));
  };
  const open = (field, day) => {
    const first = plus(day, 1 - day.getUTCDate());
    const from = plus(first, -first.getUTCDay());
    const to = (next) => () => open(field, next);
    const squares = Array.from({ length: SQUARES }, (_, n) => {
      const one = plus(from, n);
      const off = isOff(field, one);
      const looks = [
        "day", one.getUTCMonth() !== day.getUTCMonth() && "other", off && "off", iso(one) === iso(day) && "on",
      ];
      const square = part(String(one.getUTCDate()), looks.filter(Boolean).join(" "), off ? null : () => set(field, iso(one)));
      square.element.setAttribute("aria-label", iso(one));
      return square;
    });
    const parts = [
      part("\u2190", "turn", to(months(day, -1))),
      part(`${MONTHS[day.getUTCMonth()]} ${day.getUTCFullYear()}`, "month"),
      part("\u2192", "turn", to(months(day, 1))),
      ...[..."SMTWTFS"].map((letter) => part(letter, "week")),
      ...squares,
      part("Clear", "foot", () => set(field, "")),
      isOff(field, today())
        ? part("Today", "foot last off")
        : part("Today", "foot last", () => set(field, iso(today()))),
    ];
    const grid = document.createElement("div");
    grid.className = "calendar";
    grid.append(...parts.map((one) => one.element));
    const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -WEEK, ArrowDown: WEEK };
    show({
      ...draw(field, grid),
      press: (target) => {
        const found = parts.find((one) => one.element.contains(target));
        if (found && found.does) found.does();
      },
      key: (event) => {
        const { key } = event;
        if (key === "Tab") close();
        if (!(key in moves) && !["PageUp", "PageDown", "Enter", " ", "Escape"].includes(key)) return;
        hide(event);
        if (key === "Escape") close();
        else if (key === "Enter" || key === " ") {
          if (!isOff(field, day)) set(field, iso(day));
        } else open(field, key in moves ? plus(day, moves[key]) : months(day, key === "PageUp" ? -1 : 1));
      },
    });
  };
  // Opens the calendar where the browser would: at a press on the field's sign, or Alt and an arrow.
  globalThis.stepmill.layer.openDate = (event) => {
    const field = event.composedPath()[0];
    const isDate = tagOf(field) === "input" && field.type === "date";
    if (!isDate || event.defaultPrevented || field.readOnly || field.matches(":disabled")) return false;
    const pressed = event.type === "click" && boxOf(field).width - event.offsetX < INDICATOR_PX;
    const opened = event.type === "keydown" && (event.key === "F4" || event.key === " " ||
      event.altKey && event.key === "ArrowDown");
    if (!pressed && !opened) return false;
    event.preventDefault();
    open(field, field.valueAsDate || today());
    return true;
  };
})();
