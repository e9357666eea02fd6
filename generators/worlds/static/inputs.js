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

  start(document);
})();
