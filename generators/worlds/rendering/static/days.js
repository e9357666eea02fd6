// The calendars of date fields, each made by the picker that the field names. A field stays a line to type into and
// is what is sent; its calendar lies over everything else, and what is clicked there is written into the field.
(() => {
  "use strict";
  const GAP = 4; // px between a field and its calendar, and between that and the window's edges
  const said = (key) => window.worldWords[`dates.${key}`];
  const [MONTHS, MONTHS_SHORT] = [said("months"), said("months_short")];
  const [WEEKDAYS, WEEKDAYS_SHORT, WEEKDAYS_TINY] = ["weekdays", "weekdays_short", "weekdays_tiny"].map(said);
  const make = (tag, attrs) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attrs)) element.setAttribute(name, value);
    return element;
  };
  const dayOf = (year, month, day) => {
    const date = new Date(Number(year), Number(month) - 1, Number(day));
    return date.getMonth() === Number(month) - 1 ? date : null;
  };
  const padded = (number) => String(number).padStart(2, "0");
  const isoOf = (date) => `${date.getFullYear()}-${padded(date.getMonth() + 1)}-${padded(date.getDate())}`;
  const readIso = (text) => {
    const found = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(text);
    return found && dayOf(found[1], found[2], found[3]);
  };

  // The world's way of writing days, as `{d} {name} {y}`: `read` takes 2026-03-09 too, and returns null for no day.
  const writing = (template, months) => {
    const escaped = template.replace(/[.]/g, "\\$&").replaceAll(":02", "").replaceAll(" ", "\\s+");
    const pattern = new RegExp(`^${escaped
      .replace("{y}", "(?<y>\\d{4})").replace("{m}", "(?<m>\\d{1,2})").replace("{d}", "(?<d>\\d{1,2})")
      .replace("{name}", "(?<name>[^\\s\\d]+)")}$`, "i");
    const show = (date) => template
      .replace("{y}", date.getFullYear()).replace("{name}", months[date.getMonth()])
      .replace("{m:02}", padded(date.getMonth() + 1)).replace("{m}", date.getMonth() + 1)
      .replace("{d:02}", padded(date.getDate())).replace("{d}", date.getDate());
    const read = (text) => {
      const parts = pattern.exec(text.trim())?.groups;
      if (!parts) return readIso(text.trim());
      const named = months.findIndex((month) => month.toLowerCase() === parts.name?.toLowerCase());
      return dayOf(parts.y, parts.name ? named + 1 : parts.m, parts.d);
    };
    return { show, read };
  };

  // Each picker makes a calendar in a box and returns what shows a day there, or a month in which none is chosen.
  // The cells of days say which they are: `name(cell, date)`.
  const PICKERS = {
    flatpickr: (box, { today, first, name }) => {
      const hidden = make("input", { type: "hidden" });
      box.append(hidden);
      const picker = flatpickr(hidden, {
        inline: true, appendTo: box, now: today, monthSelectorType: "static",
        locale: {
          firstDayOfWeek: first, yearAriaLabel: said("year"),
          months: { longhand: MONTHS, shorthand: MONTHS_SHORT }, weekdays: { longhand: WEEKDAYS, shorthand: WEEKDAYS_SHORT },
        },
        onDayCreate: (_dates, _text, _picker, cell) => name(cell, cell.dateObj),
      });
      hidden.hidden = true;
      picker.currentYearElement.readOnly = true;
      return (day) => {
        picker.setDate(day, false);
        picker.jumpToDate(day || today);
      };
    },
    "air-datepicker": (box, { today, first, name }) => {
      const picker = new AirDatepicker(box, {
        inline: true, startDate: today, toggleSelected: false, keyboardNav: false,
        navTitles: { days: "MMMM <i>yyyy</i>" },
        locale: {
          days: WEEKDAYS, daysShort: WEEKDAYS_SHORT, daysMin: WEEKDAYS_TINY, months: MONTHS,
          monthsShort: MONTHS_SHORT, dateFormat: "yyyy-MM-dd", timeFormat: "HH:mm", firstDay: first,
          today: said("today"), clear: said("clear"),
        },
        onRenderCell: ({ date, cellType }) => cellType === "day" ? { attrs: name(null, date) } : {},
      });
      return (day) => {
        if (day) picker.selectDate(day, { silent: true });
        else picker.clear({ silent: true });
        picker.setCurrentView("days");
        picker.setViewDate(day || today);
      };
    },
    "vanillajs-datepicker": (box, { today, first, name }) => {
      Datepicker.locales.world = {
        days: WEEKDAYS, daysShort: WEEKDAYS_SHORT, daysMin: WEEKDAYS_TINY, months: MONTHS, monthsShort: MONTHS_SHORT,
        today: said("today"), clear: said("clear"), titleFormat: "MM y", format: "yyyy-mm-dd", weekStart: first,
      };
      const picker = new Datepicker(box, {
        language: "world",
        defaultViewDate: today, todayHighlight: true, weekStart: first, prevArrow: "‹", nextArrow: "›",
      });
      const label = () => {
        for (const cell of box.querySelectorAll(".datepicker-cell.day"))
          name(cell, new Date(Number(cell.dataset.date)));
      };
      new MutationObserver(label).observe(box, { subtree: true, childList: true, attributeFilter: ["data-date"] });
      return (day) => {
        picker.setDate(day ? day.getTime() : { clear: true });
        picker.setFocusedDate((day || today).getTime(), true);
        label();
      };
    },
  };
  const ARROWS = {
    [said("previous_month")]: ".flatpickr-prev-month, [data-action=prev], .prev-button",
    [said("next_month")]: ".flatpickr-next-month, [data-action=next], .next-button",
  };

  const name = (cell, date) => {
    const label = said("day_of_month").replace("{day}", date.getDate()).replace("{month}", MONTHS[date.getMonth()])
      .replace("{year}", date.getFullYear());
    const attrs = { role: "option", "aria-label": label, "data-day": isoOf(date) };
    for (const [key, value] of Object.entries(cell ? attrs : {})) cell.setAttribute(key, value);
    return attrs;
  };

  const start = (field) => {
    const { picker, today, first, writes, months } = field.dataset;
    const days = writing(writes, months.split("|"));
    const popup = make("div", { class: "w-days", popover: "manual", role: "dialog", "aria-label": said("calendar") });
    const box = make("div", {});
    popup.append(box);
    field.after(popup);
    const show = PICKERS[picker](box, { today: readIso(today), first: Number(first), name });
    for (const [label, arrows] of Object.entries(ARROWS))
      for (const arrow of box.querySelectorAll(arrows)) arrow.setAttribute("aria-label", label);
    const isOpen = () => popup.matches(":popover-open");
    const put = (date) => {
      field.value = days.show(date);
      field.dispatchEvent(new Event("change", { bubbles: true }));
    };
    const place = () => {
      const at = field.getBoundingClientRect();
      const [wide, high] = [popup.offsetWidth, popup.offsetHeight];
      const below = at.bottom + GAP;
      const top = below + high <= innerHeight - GAP ? below : at.top - GAP - high;
      popup.style.top = `${Math.max(GAP, Math.min(top, innerHeight - high - GAP))}px`;
      const left = document.documentElement.dir === "rtl" ? at.right - wide : at.left;
      popup.style.left = `${Math.max(GAP, Math.min(left, innerWidth - wide - GAP))}px`;
    };
    const open = () => {
      if (isOpen()) return;
      show(days.read(field.value));
      popup.showPopover();
      field.setAttribute("aria-expanded", "true");
      place();
    };
    const close = () => {
      if (!isOpen()) return;
      popup.hidePopover();
      field.setAttribute("aria-expanded", "false");
      const typed = days.read(field.value);
      if (typed) put(typed);
    };
    const given = days.read(field.value);
    if (given) field.value = days.show(given);
    field.setAttribute("aria-haspopup", "dialog");
    field.setAttribute("aria-expanded", "false");
    field.addEventListener("click", open);
    field.addEventListener("blur", close);
    field.addEventListener("input", () => {
      const typed = days.read(field.value);
      if (typed || !field.value) show(typed);
    });
    field.addEventListener("keydown", (event) => {
      if (!isOpen() || !["Enter", "Escape"].includes(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
      close();
    });
    popup.addEventListener("mousedown", (event) => event.preventDefault());
    popup.addEventListener("click", (event) => {
      const cell = event.target.closest("[data-day]");
      if (!cell) return;
      put(readIso(cell.dataset.day));
      close();
    }, { capture: true }); // before the picker, which may let nobody else know
    document.addEventListener("scroll", () => { if (isOpen()) place(); }, { capture: true, passive: true });
  };

  document.addEventListener("world:drawn", (event) => {
    for (const field of event.target.querySelectorAll("[data-picker]:not([aria-haspopup])")) start(field);
  });
})();
