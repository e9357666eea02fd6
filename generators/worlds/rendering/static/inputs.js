// Further widgets of forms, each made from the native field that it stands for, as those of `widgets.js` are.
(() => {
  const { WIDGETS, make, changed, lineFor, replace, suggest, start } = window.worldWidgets;
  const removing = (select, text) => {
    const button = make("button", { type: "button", "aria-label": select.dataset.remove.replace("{tag}", text) });
    button.textContent = "×";
    return button;
  };

  WIDGETS.tags = (select) => {
    const [line, rows] = lineFor(select);
    const [box, chips] = [make("div", { class: "w-tags" }), make("div", { class: "w-chips" })];
    replace(select, box);
    box.append(chips, line, rows);
    const put = (option, chosen) => {
      option.selected = chosen;
      changed(select);
    };
    const draw = () => {
      chips.replaceChildren(...[...select.selectedOptions].map((option) => {
        const [chip, words, button] = [make("span", { class: "w-chip" }), make("span", {}), removing(select, option.text)];
        words.textContent = option.text;
        button.addEventListener("click", () => put(option, false));
        chip.append(words, button);
        return chip;
      }));
    };
    select.addEventListener("change", draw);
    suggest({
      line, rows,
      options: () => [...select.options].filter((option) => !option.selected),
      choose: (option) => put(option, true),
      words: () => "",
    });
    draw();
  };

  // A choice is dragged from a tray into a box; the one that was in it goes back into the tray.
  WIDGETS.drop = (select) => {
    const [box, tray, place] = ["w-drop", "w-tray", "w-place"].map((name) => make("div", { class: name }));
    const id = select.id;
    replace(select, box);
    box.id = id;
    box.append(tray, place);
    const put = (value) => {
      select.value = value;
      changed(select);
    };
    const draw = () => {
      tray.replaceChildren();
      const said = make("span", {});
      said.textContent = select.dataset.drop;
      place.replaceChildren(said);
      for (const option of select.options) {
        if (!option.value) continue;
        const [file, words] = [make("span", { class: "w-file" }), make("span", {})];
        words.textContent = option.text;
        file.append(words);
        if (option.selected) {
          const button = removing(select, option.text);
          button.addEventListener("click", () => put(""));
          file.append(button);
          place.append(file);
        } else {
          file.addEventListener("pointerdown", (event) => hold(event, file, option));
          tray.append(file);
        }
      }
    };
    const hold = (event, file, option) => {
      if (event.button !== 0) return;
      event.preventDefault();
      const { clientX, clientY } = event;
      const inPlace = (at) => {
        const box = place.getBoundingClientRect();
        return at.clientX >= box.left && at.clientX <= box.right && at.clientY >= box.top && at.clientY <= box.bottom;
      };
      const move = (at) => {
        file.classList.add("held");
        file.style.transform = `translate(${at.clientX - clientX}px, ${at.clientY - clientY}px)`;
        place.classList.toggle("w-over", inPlace(at));
      };
      const release = (at) => {
        document.removeEventListener("pointermove", move);
        file.classList.remove("held");
        file.style.transform = "";
        place.classList.remove("w-over");
        if (inPlace(at)) put(option.value);
      };
      document.addEventListener("pointermove", move);
      document.addEventListener("pointerup", release, { once: true });
    };
    select.addEventListener("change", draw);
    draw();
  };

  // What is written is plain text, as the field that it stands for holds it; untouched, it is sent as it came.
  WIDGETS.richtext = (area) => {
    const id = area.id;
    const [box, row] = [make("div", { class: "w-rich" }), make("div", { class: "w-tools", role: "toolbar" })];
    const sheet = make("div", {
      id, class: `w-sheet ${area.className}`, role: "textbox", contenteditable: "plaintext-only", "aria-multiline": "true",
    });
    for (const name of ["aria-describedby", "aria-invalid"])
      if (area.hasAttribute(name)) sheet.setAttribute(name, area.getAttribute(name));
    replace(area, box);
    box.append(row, sheet);
    sheet.textContent = area.value;
    sheet.addEventListener("input", () => {
      area.value = sheet.innerText;
      changed(area);
    });
    const tool = (name, sign, act) => {
      const button = make("button", { type: "button", "aria-label": name });
      button.textContent = sign;
      button.addEventListener("mousedown", (event) => event.preventDefault());
      button.addEventListener("click", () => {
        sheet.focus();
        act();
      });
      row.append(button);
    };
    const said = (key) => window.worldWords[`tools.${key}`];
    tool(said("list"), "•", () => document.execCommand("insertText", false, "• "));
    tool(said("paragraph"), "¶", () => document.execCommand("insertText", false, "\n"));
    tool(said("undo"), "↶", () => document.execCommand("undo"));
    tool(said("redo"), "↷", () => document.execCommand("redo"));
  };

  start(document);
})();
