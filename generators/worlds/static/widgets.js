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

  const combobox = (select) => {
    const id = select.id;
    const list = `${id}-list`;
    const field = make("input", {
      type: "text", role: "combobox", id, class: select.dataset.class, autocomplete: "off",
      "aria-expanded": "false", "aria-controls": list, "aria-autocomplete": "list",
    });
    for (const name of ["aria-describedby", "aria-invalid"])
      if (select.hasAttribute(name)) field.setAttribute(name, select.getAttribute(name));
    const rows = make("ul", { role: "listbox", id: list, class: "w-list", hidden: "" });
    const box = make("div", { class: "w-combobox" });
    select.removeAttribute("id");
    select.hidden = true;
    select.style.setProperty("display", "none", "important");
    select.after(box);
    box.append(field, rows);
    const chosen = () => select.options[select.selectedIndex];
    const words = () => (chosen() ? chosen().text : "");
    let at = -1;
    const mark = (next) => {
      [...rows.children].forEach((row, place) => row.setAttribute("aria-selected", String(place === next)));
      at = next;
      if (rows.children[at]) rows.children[at].scrollIntoView({ block: "nearest" });
    };
    const close = () => {
      rows.hidden = true;
      field.setAttribute("aria-expanded", "false");
      field.value = words();
    };
    const choose = (option) => {
      select.value = option.value;
      close();
      changed(select);
    };
    const open = (sought) => {
      const wanted = sought.trim().toLowerCase();
      const fitting = [...select.options].filter(
        (option) => option.text && option.text.toLowerCase().includes(wanted));
      rows.replaceChildren(...fitting.map((option) => {
        const row = make("li", { role: "option" });
        row.textContent = option.text;
        row.addEventListener("click", () => choose(option));
        return row;
      }));
      if (!fitting.length) {
        const row = make("li", { class: "w-nothing" });
        row.textContent = "–";
        rows.append(row);
      }
      rows.style.backgroundColor = groundOf(box);
      rows.hidden = false;
      field.setAttribute("aria-expanded", "true");
      rows.style.maxHeight = `${rows.firstElementChild.offsetHeight * SHOWN}px`;
      mark(fitting.length && wanted ? 0 : -1);
    };
    field.value = words();
    field.addEventListener("input", () => open(field.value));
    field.addEventListener("click", () => {
      if (!rows.hidden) return;
      field.select();
      open("");
    });
    field.addEventListener("blur", close);
    rows.addEventListener("mousedown", (event) => event.preventDefault());
    field.addEventListener("keydown", (event) => {
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

  const slider = (box) => {
    const [field, shown] = [box.querySelector("input"), box.querySelector("output")];
    field.addEventListener("input", () => { shown.value = field.value; });
  };

  const stepper = (box) => {
    const field = box.querySelector("input");
    const [least, most] = [Number(field.dataset.least), Number(field.dataset.most)];
    for (const button of box.querySelectorAll("[data-step]"))
      button.addEventListener("click", () => {
        const held = Number(field.value.replaceAll(",", ""));
        const next = field.value.trim() && !Number.isNaN(held) ? held + Number(button.dataset.step) : least;
        field.value = Math.min(most, Math.max(least, next));
        changed(field);
      });
  };

  const WIDGETS = { combobox, slider, stepper };
  const start = (root) => {
    for (const field of root.querySelectorAll("[data-widget]")) {
      if (field.dataset.started) continue;
      field.dataset.started = "yes";
      WIDGETS[field.dataset.widget](field);
    }
  };
  document.addEventListener("world:drawn", (event) => start(event.target));
  start(document);
})();
