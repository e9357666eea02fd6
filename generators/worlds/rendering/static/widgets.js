// The widgets of forms, each made from the native field that it stands for: that field stays and is what is sent.
(() => {
  const SHOWN = 8; // rows of a list before it scrolls
  const CLEAR = /^(?:transparent|rgba\(.*, 0\))$/;
  const make = (tag, attrs) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attrs)) element.setAttribute(name, value);
    return element;
  };
  const changed = (field) => {
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.dispatchEvent(new Event("change", { bubbles: true }));
  };
  // The colour of the ground that an element stands on, whatever the kit.
  const groundOf = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!CLEAR.test(colour)) return colour;
    }
    return "Canvas";
  };

  // The line to type into that stands in a field's place, and the list under it.
  const lineFor = (select) => {
    const [id, list] = [select.id, `${select.id}-list`];
    const line = make("input", {
      type: "text", role: "combobox", id, class: select.dataset.class, autocomplete: "off",
      "aria-expanded": "false", "aria-controls": list, "aria-autocomplete": "list",
    });
    for (const name of ["aria-describedby", "aria-invalid"])
      if (select.hasAttribute(name)) line.setAttribute(name, select.getAttribute(name));
    return [line, make("ul", { role: "listbox", id: list, class: "w-list", hidden: "" })];
  };
  const replace = (field, box) => {
    field.removeAttribute("id");
    field.hidden = true;
    field.style.setProperty("display", "none", "important");
    field.after(box);
  };

  // Lists under a line what holds the words in it: `options()` may be chosen, `choose(option)` takes one, and `words()`
  // stand in the line while nobody types.
  const suggest = ({ line, rows, options, choose, words }) => {
    let at = -1;
    const mark = (next) => {
      [...rows.children].forEach((row, place) => row.setAttribute("aria-selected", String(place === next)));
      at = next;
      if (rows.children[at]) rows.children[at].scrollIntoView({ block: "nearest" });
    };
    const close = () => {
      rows.hidden = true;
      line.setAttribute("aria-expanded", "false");
      line.value = words();
    };
    const open = (sought) => {
      const wanted = sought.trim().toLowerCase();
      const fitting = options().filter((option) => option.text && option.text.toLowerCase().includes(wanted));
      rows.replaceChildren(...fitting.map((option) => {
        const row = make("li", { role: "option" });
        row.textContent = option.text;
        row.addEventListener("click", () => {
          choose(option);
          close();
        });
        return row;
      }));
      if (!fitting.length) {
        const row = make("li", { class: "w-nothing" });
        row.textContent = "–";
        rows.append(row);
      }
      rows.style.backgroundColor = groundOf(rows.parentElement);
      rows.hidden = false;
      line.setAttribute("aria-expanded", "true");
      rows.style.maxHeight = `${rows.firstElementChild.offsetHeight * SHOWN}px`;
      mark(fitting.length && wanted ? 0 : -1);
    };
    line.value = words();
    line.addEventListener("input", () => open(line.value));
    line.addEventListener("click", () => {
      if (!rows.hidden) return;
      line.select();
      open("");
    });
    line.addEventListener("blur", close);
    rows.addEventListener("mousedown", (event) => event.preventDefault());
    line.addEventListener("keydown", (event) => {
      const { key } = event;
      if (key === "ArrowDown" || key === "ArrowUp") {
        event.preventDefault();
        if (rows.hidden) open("");
        const count = rows.querySelectorAll("[role=option]").length;
        if (count) mark((at + (key === "ArrowDown" ? 1 : count - (at < 0 ? 0 : 1))) % count);
      } else if (key === "Enter" && !rows.hidden) {
        event.preventDefault();
        if (rows.children[at]) rows.children[at].click();
      } else if (key === "Escape" && !rows.hidden) {
        event.stopPropagation();
        close();
      }
    });
  };

  const combobox = (select) => {
    const [line, rows] = lineFor(select);
    const box = make("div", { class: "w-combobox" });
    replace(select, box);
    box.append(line, rows);
    const chosen = () => select.options[select.selectedIndex];
    suggest({
      line, rows,
      options: () => [...select.options],
      choose: (option) => {
        select.value = option.value;
        changed(select);
      },
      words: () => (chosen() ? chosen().text : ""),
    });
  };

  const slider = (box) => {
    const [field, shown] = [box.querySelector("input"), box.querySelector("output")];
    field.addEventListener("input", () => { shown.value = field.value; });
  };

  const stepper = (box) => {
    const field = box.querySelector("input");
    const [least, most] = [Number(field.dataset.least), Number(field.dataset.most)];
    for (const button of box.querySelectorAll("[data-step]"))
      button.addEventListener("click", () => {
        const held = Number(field.value.replace(/[^\d-]/g, ""));
        const next = field.value.trim() && !Number.isNaN(held) ? held + Number(button.dataset.step) : least;
        field.value = Math.min(most, Math.max(least, next));
        changed(field);
      });
  };

  const WIDGETS = { combobox, slider, stepper };
  window.worldWidgets = { WIDGETS, make, changed, lineFor, replace, suggest, start: (root) => start(root) };
  const start = (root) => {
    for (const field of root.querySelectorAll("[data-widget]")) {
      if (field.dataset.started || !WIDGETS[field.dataset.widget]) continue;
      field.dataset.started = "yes";
      WIDGETS[field.dataset.widget](field);
    }
  };
  document.addEventListener("world:drawn", (event) => start(event.target));
  start(document);
})();
