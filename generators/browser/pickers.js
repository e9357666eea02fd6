// Draws the browser's pickers of a day, a week, a month, a time and a colour, after calendar.js and in the layer of
// lists.js: a native one takes no click where there is no window. As a native one, it puts what is chosen into its
// field at once, with an `input`; a `change` follows when it is closed, unless Escape takes it back.
(() => {
  const { boxOf, rootOf, styleOf, tagOf } = globalThis.stepmill.parts;
  const {
    DAY_MS, WEEK_MS, YEAR, close, days, draw, hide, mondayOf, monthOf, months, pane, part, show, turned, wasOpenOn,
  } = globalThis.stepmill.layer;
  const LOOK = `
    .picker { box-sizing: border-box; display: flex; width: max-content; overflow: hidden auto; background: #fff;
      color: #000; border: 1px solid #bfbfbf; font: 12px/26px sans-serif; text-align: center; cursor: default }
    .calendar { padding: 6px; display: grid; grid-template-columns: repeat(7, 30px) }
    .weeks { grid-template-columns: 40px repeat(7, 30px) }
    .months { grid-template-columns: repeat(4, 52px) }
    .month { grid-column: 2 / -2; font-weight: bold }
    .number { border-right: 1px solid #bfbfbf }
    .other, .off { color: #767676 }
    .on { background: #1967d2; color: #fff; border-radius: 2px }
    .foot { grid-column: span 2 }
    .foot:not(.off) { color: #1967d2 }
    .last { grid-column: -4 / span 3 }
    .months .last { grid-column: -3 / span 2 }
    .column { position: relative; width: 52px; height: 238px; padding: 0 2px; overflow: hidden auto;
      overscroll-behavior: contain }
    .column div { height: 34px; line-height: 34px; font-size: 14px }
    .keyed .on { font-weight: bold; box-shadow: inset 0 0 0 2px #000 }
    .colours { padding: 6px; display: grid; grid-template-columns: repeat(12, 22px) }
    .colours .swatch { height: 18px; margin: 2px; border-radius: 2px; box-shadow: inset 0 0 0 1px #00000040 }
    .colours .swatch.on { box-shadow: 0 0 0 2px #000 }
    .colours .value { grid-column: 1 / span 4; margin: 4px 2px 0; border: 1px solid #bfbfbf; font-family: monospace }
    .colours .more { grid-column: -5 / span 4; margin-top: 4px; color: #1967d2 }`;
  const SIGN = "::-webkit-calendar-picker-indicator";
  const SIGN_PX = 6; // more than a letter is high
  const SECOND_MS = 1000;
  const SAME = 1000; // more than all columns can differ
  // By type: the unit of its step and its usual step in ms, or in months.
  const KINDS = {
    "date": { unit: DAY_MS, step: DAY_MS, across: DAY_MS, down: WEEK_MS },
    "week": { unit: WEEK_MS, step: WEEK_MS, from: -3 * DAY_MS, across: WEEK_MS, down: WEEK_MS },
    "month": { unit: 1, step: 1, across: 1, down: 4 },
    "time": { unit: SECOND_MS, step: 60 * SECOND_MS, across: 0, down: 0 },
    "datetime-local": { unit: SECOND_MS, step: 60 * SECOND_MS, across: DAY_MS, down: WEEK_MS },
    "color": {},
  };
  const COLUMNS = ["hour", "minute", "second", "half"];
  const PURE = [
    "ff0000", "ff8000", "ffff00", "80ff00", "00ff00", "00ff80", "00ffff", "0080ff", "0000ff", "8000ff", "ff00ff",
    "ff0080",
  ];
  const GREYS = ["00", "20", "40", "60", "80", "a0", "c0", "e0", "ff"].map((level) => `#${level.repeat(3)}`);
  const shade = (levels) => PURE.map((one) => `#${one.replace(/../g, (level) => levels[level])}`);
  const PALETTE = [
    ...shade({ "00": "80", "80": "c0", "ff": "ff" }), ...shade({ "00": "00", "80": "80", "ff": "ff" }),
    ...shade({ "00": "00", "80": "40", "ff": "80" }), ...GREYS,
  ];
  const ROW = PURE.length;
  const now = () => {
    const local = new Date(Date.now());
    return Date.UTC(local.getFullYear(), local.getMonth(), local.getDate(), local.getHours(), local.getMinutes());
  };
  const mod = (number, by) => ((number % by) + by) % by;
  // Which numbers a field takes, by its own bounds and steps.
  const boundsOf = (field) => {
    const { unit, step, from = 0 } = KINDS[field.type];
    const probe = document.createElement("input");
    probe.type = field.type;
    const [min, max, first] = [field.min, field.max, field.defaultValue].map((text) => {
      probe.value = text;
      return probe.valueAsNumber;
    });
    const by = Number(field.step) > 0 ? Math.max(1, Math.round(Number(field.step) * unit)) : step;
    const base = [min, first, from].find((one) => !Number.isNaN(one));
    const isAny = field.step.toLowerCase() === "any";
    const isOut = (at) => field.type === "time" && min > max ? at < min && at > max : at < min || at > max;
    const grain = isAny || by % step || mod(base, step) ? SECOND_MS : step;
    return { min, max, grain, fits: (at) => !isOut(at) && (isAny || mod(at - base, by) === 0) };
  };
  const write = (field, name, value) => {
    const before = field.value;
    field[name] = value;
    if (field.value !== before) field.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  };
  const clock = (at) => {
    const hour = Math.floor(mod(at, DAY_MS) / 3600000);
    const two = (number) => String(number).padStart(2, "0");
    const [minute, second] = [Math.floor(mod(at, 3600000) / 60000), Math.floor(mod(at, 60000) / SECOND_MS)];
    return [two(hour % 12 || 12), two(minute), two(second), hour < 12 ? "AM" : "PM"];
  };
  const timesOf = ({ bounds }, day) => {
    const found = [];
    for (let at = day; at < day + DAY_MS; at += bounds.grain) if (bounds.fits(at)) found.push(at);
    return found;
  };
  const dayOf = (at) => at - mod(at, DAY_MS);
  // The time that shows most of what `at` does, and the rest most nearly; null if there is none.
  const nearest = (times, at) => {
    const wanted = clock(at);
    let [found, best] = [null, -Infinity];
    for (const one of times) {
      let score = 0;
      for (const [n, text] of clock(one).entries())
        score += text === wanted[n] ? SAME : -Math.abs(Number(text) - Number(wanted[n])) || 0;
      if (score > best) [found, best] = [one, score];
    }
    return found;
  };
  // What the field would be given for a square: itself, or a time of that day; null if it takes none.
  const given = (picker, at) => {
    if (picker.bounds.fits(at)) return at;
    return picker.hasTime ? nearest(timesOf(picker, dayOf(at)), at) : null;
  };
  const choose = (picker, at) => {
    const value = given(picker, at);
    picker.at = value ?? at;
    if (value !== null) write(picker.field, "valueAsNumber", value);
    redraw(picker);
  };
  const columnsOf = (picker) => {
    const times = timesOf(picker, dayOf(picker.at));
    const shown = clock(picker.at);
    const all = times.map((at) => clock(at));
    const names = COLUMNS.filter((name) => name !== "second" || picker.bounds.grain < 60 * SECOND_MS);
    return names.map((name, column) => {
      const n = COLUMNS.indexOf(name);
      const texts = [...new Set(all.map((one) => one[n]))].toSorted();
      const pick = (text) => {
        picker.column = column;
        choose(picker, nearest(times.filter((_, at) => all[at][n] === text), picker.at));
      };
      const cells = texts.map((text) =>
        part(text, [text === shown[n] && "on"], () => pick(text), name === "half" ? text : `${text} ${name}s`));
      const step = (by) => {
        if (texts.length) pick(texts[mod(texts.indexOf(shown[n]) + by, texts.length)]);
      };
      return { ...pane(`column${column === picker.column ? " keyed" : ""}`, cells), step };
    });
  };
  const coloursOf = (picker) => {
    const { field } = picker;
    const suggested = picker.isMore || !field.list ? [] : [...field.list.options]
      .map((option) => option.value.toLowerCase()).filter((value) => /^#[0-9a-f]{6}$/.test(value));
    const base = suggested.length ? [...new Set(suggested)] : PALETTE;
    picker.palette = suggested.length || base.includes(picker.was) ? base : [...base, picker.was];
    const take = (value) => () => {
      write(field, "value", value);
      close();
    };
    const swatches = picker.palette.map((value) => {
      const swatch = part("", ["swatch", value === picker.at && "on"], take(value), value);
      swatch.element.style.background = value;
      return swatch;
    });
    const more = () => {
      picker.isMore = true;
      redraw(picker);
    };
    return [pane("colours", [
      ...swatches, part(picker.typed ? `#${picker.typed}` : picker.at, ["value"]),
      ...(suggested.length ? [part("Other\u2026", ["more"], more)] : []),
    ])];
  };
  const panesOf = (picker) => {
    const { field } = picker;
    if (field.type === "color") return coloursOf(picker);
    const way = {
      at: picker.at, now: now(),
      fits: (at) => picker.hasTime ? timesOf(picker, dayOf(at)).length > 0 : picker.bounds.fits(at),
      choose: (at) => {
        picker.column = -1;
        choose(picker, at);
        if (!picker.hasTime) close();
      },
      turn: (at) => {
        Object.assign(picker, { at, column: -1 });
        redraw(picker);
      },
      clear: () => {
        write(field, "value", "");
        close();
      },
    };
    picker.columns = picker.hasTime ? columnsOf(picker) : [];
    if (field.type === "time") return picker.columns;
    return [field.type === "month" ? months(way) : days(way, field.type === "week"), ...picker.columns];
  };
  const redraw = (picker) => {
    const { inner } = picker;
    const tops = [...inner.children].map((one) => one.scrollTop);
    const panes = panesOf(picker);
    picker.parts = panes.flatMap((one) => one.parts);
    inner.replaceChildren(...panes.map((one) => one.element));
    for (const [n, element] of [...inner.children].entries()) {
      const on = element.className.startsWith("column") ? element.querySelector(".on") : null;
      if (!on) continue;
      element.scrollTop = tops.length ? tops[n] : on.offsetTop;
      if (on.offsetTop < element.scrollTop || on.offsetTop + on.offsetHeight > element.scrollTop + element.clientHeight)
        element.scrollTop = on.offsetTop;
    }
  };
  const onColourKey = (picker, key) => {
    const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -ROW, ArrowDown: ROW };
    if (key in moves) {
      const to = picker.palette[picker.palette.indexOf(picker.at) + moves[key]];
      Object.assign(picker, { at: to ?? picker.at, typed: "" });
    } else if (/^[0-9a-f]$/i.test(key)) picker.typed = (picker.typed + key.toLowerCase()).slice(0, 6);
    else if (key === "Backspace") picker.typed = picker.typed.slice(0, -1);
    else return;
    if (picker.typed.length === 6) picker.at = `#${picker.typed}`;
    redraw(picker);
  };
  const onDateKey = (picker, key) => {
    const { field, columns, column } = picker;
    const { across, down } = KINDS[field.type];
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    const isPage = key === "PageUp" || key === "PageDown";
    if (columns.length && (key === "Tab" || column >= 0 && way && way[0])) {
      // A calendar is before the columns; arrows stay among these.
      const first = field.type === "time" || key !== "Tab" ? 0 : -1;
      const by = key === "Tab" ? 1 : way[0];
      picker.column = first + mod(column - first + by, columns.length - first);
      redraw(picker);
    } else if (column >= 0 && way) columns[column].step(way[1]);
    else if (way) choose(picker, picker.at + way[0] * across + way[1] * down);
    else if (isPage && field.type !== "time") {
      const by = key === "PageUp" ? -1 : 1;
      const to = field.type === "month" ? picker.at + by * YEAR : turned(picker.at, by);
      choose(picker, field.type === "week" ? mondayOf(to) : to);
    }
  };
  const KEYS = [
    "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "PageUp", "PageDown", "Enter", " ", "Escape", "Tab", "Backspace",
  ];
  const onKey = (picker, event) => {
    const { key } = event;
    const { field } = picker;
    const isColour = field.type === "color";
    if (event.ctrlKey || event.metaKey || !KEYS.includes(key) && !(isColour && key.length === 1)) return;
    if (key === "Tab" && !picker.hasTime) {
      close();
      return;
    }
    hide(event);
    if (key === "Escape") {
      write(field, "value", picker.was);
      close();
    } else if (key === "Enter" || key === " ") {
      if (isColour) write(field, "value", picker.at);
      else choose(picker, picker.at);
      close();
    } else if (isColour) onColourKey(picker, key);
    else onDateKey(picker, key);
  };
  // Where a picker begins whose field is empty: now, or the nearest that the field takes.
  const beginOf = ({ field, bounds, hasTime }) => {
    if (field.type === "color") return field.value;
    if (!Number.isNaN(field.valueAsNumber)) return field.valueAsNumber;
    const whole = { "month": monthOf, "week": mondayOf, "date": dayOf, "time": (at) => mod(at, DAY_MS) }[field.type];
    const here = whole ? whole(now()) : now();
    let at = here < bounds.min ? bounds.min : here;
    if (at > bounds.max) at = bounds.max;
    return hasTime ? nearest(timesOf({ bounds }, dayOf(at)), at) ?? at : at;
  };
  const open = (field) => {
    const hasTime = field.type === "time" || field.type === "datetime-local";
    const bounds = field.type === "color" ? null : boundsOf(field);
    const inner = document.createElement("div");
    inner.className = "picker";
    const picker = {
      field, inner, bounds, hasTime, was: field.value, typed: "", column: field.type === "time" ? 0 : -1, columns: [],
    };
    picker.at = beginOf(picker);
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(LOOK);
    redraw(picker);
    const drawn = draw(field, inner, sheet);
    inner.replaceChildren();
    redraw(picker); // now that it has a size, at what is chosen
    show({
      ...drawn,
      press: (target) => {
        const found = picker.parts.find((one) => one.element.contains(target));
        if (found && found.does) found.does();
      },
      key: (event) => onKey(picker, event),
      end: () => {
        if (field.isConnected && field.value !== picker.was) field.dispatchEvent(new Event("change", { bubbles: true }));
      },
    });
  };
  const canOpen = (field) => tagOf(field) === "input" && Object.hasOwn(KINDS, field.type) && !field.matches(":disabled") &&
    (field.type === "color" || !field.readOnly);
  const isActive = (field) => field.ownerDocument.defaultView.navigator.userActivation.isActive;
  // What a page says of the sign of its fields: it may lie over the whole of one, or be gone.
  const saidOfSign = (field, rules) => {
    const said = {};
    for (const rule of rules) {
      const selectors = rule.cssText.includes(SIGN) && rule.selectorText ? rule.selectorText.split(",") : [];
      const isFor = selectors.some((one) => one.includes(SIGN) && field.matches(one.replace(SIGN, "").trim() || "*"));
      if (isFor) for (const name of ["display", "position"]) said[name] = rule.style[name] || said[name];
      Object.assign(said, rule.cssRules && rule.cssRules.length ? saidOfSign(field, rule.cssRules) : {});
    }
    return said;
  };
  const signOf = (field) => {
    const said = {};
    const scope = rootOf(field);
    for (const sheet of [...scope.styleSheets, ...scope.adoptedStyleSheets])
      try {
        Object.assign(said, saidOfSign(field, sheet.cssRules));
      } catch {
        // a sheet of another origin, or a selector that holds a list
      }
    return said;
  };
  const isOnSign = (field, event) => {
    const { display, position } = signOf(field);
    const style = styleOf(field);
    const inset = parseFloat(style.paddingRight) + parseFloat(style.borderRightWidth);
    const fromRight = boxOf(field).width - parseFloat(style.borderLeftWidth) - event.offsetX - inset;
    const isNear = fromRight >= 0 && fromRight < parseFloat(style.fontSize) + SIGN_PX;
    return display !== "none" && (isNear || position === "absolute");
  };
  // Whether an event opens a picker where the browser would: a press on the field's sign, Space, Alt and an arrow.
  const opens = (field, event) => {
    const { type, key, altKey } = event;
    const isColour = field.type === "color"; // it is pressed by keys as a button is
    if (!isColour && !event.isTrusted) return false;
    if (type === "keydown") return !isColour && (key === "F4" || key === " " || altKey && key === "ArrowDown");
    return isColour ? isActive(field) : event.detail > 0 && isOnSign(field, event);
  };
  const finish = (event) => {
    const isLast = !("nodeType" in event.currentTarget) || event.cancelBubble;
    const field = event.composedPath()[0];
    if (!isLast || event.defaultPrevented || !("nodeType" in field) || !canOpen(field) || !opens(field, event)) return;
    event.preventDefault();
    if (event.type !== "click" || event.detail === 0 || wasOpenOn() !== field) open(field);
  };
  Object.assign(globalThis.stepmill.layer, {
    // Opens a picker once the page has heard an event, wherever it stops it: it may prevent what it opens.
    openAfter: (event) => {
      const path = event.composedPath();
      if ("nodeType" in path[0] && canOpen(path[0]))
        for (const one of path) one.addEventListener(event.type, finish, { once: true });
    },
    // Opens what a script asks for; false if that is the browser's to refuse.
    openPicker: (field) => {
      if (canOpen(field)) open(field);
      return canOpen(field);
    },
  });
})();
