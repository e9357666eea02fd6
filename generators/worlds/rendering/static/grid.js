// Grids: a cell becomes a field where it stands. What opens it is a link to the cell's own page, of which its form is
// shown in the cell's place; Enter or the button sends it, Escape leaves it, and what is refused says why beside it.
(() => {
  "use strict";
  const before = new WeakMap(); // what an open cell held

  const fetchCell = async (address, options = {}) => {
    const answer = await fetch(address, { ...options, headers: { Part: "inside" } });
    const shown = new DOMParser().parseFromString(await answer.text(), "text/html");
    return { answer, shown };
  };
  const fill = (cell, nodes) => {
    cell.replaceChildren(...nodes);
    cell.dispatchEvent(new CustomEvent("world:drawn", { bubbles: true }));
  };
  const edit = (cell, shown) => {
    fill(cell, [shown.querySelector("[data-editor]")]);
    const field = cell.querySelector("input, select");
    field.focus();
    if (field.type === "text") field.select();
  };
  const leave = (cell) => {
    fill(cell, before.get(cell));
    before.delete(cell);
    cell.querySelector("[data-opens]").focus();
  };
  const open = async (cell) => {
    if (before.has(cell)) return;
    before.set(cell, [...cell.childNodes]);
    const { shown } = await fetchCell(cell.querySelector("[data-opens]").href);
    if (!cell.isConnected) return;
    for (const other of document.querySelectorAll("[data-cell]:has([data-editor])")) leave(other);
    edit(cell, shown);
  };
  const send = async (cell, form) => {
    const { answer, shown } = await fetchCell(form.action, {
      method: "POST",
      body: new URLSearchParams(new FormData(form)),
    });
    if (!cell.isConnected) return;
    if (!answer.redirected) {
      edit(cell, shown);
      return;
    }
    before.set(cell, [...shown.querySelector("[data-shown]").childNodes]);
    leave(cell);
  };

  // Before the script of pages hears of them.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-cell] [data-opens]");
    if (!link || event.button !== 0) return;
    event.preventDefault();
    const isFirst = event.detail === 1; // by Enter it is 0
    if (link.dataset.opens === "twice") return;
    if (link.dataset.opens === "click" || !isFirst) open(link.closest("[data-cell]"));
  }, { capture: true });
  document.addEventListener("dblclick", (event) => {
    const cell = event.target.closest("[data-cell]");
    if (cell && !event.target.closest("[data-editor]")) open(cell);
  });
  document.addEventListener("keydown", (event) => {
    const cell = event.target.closest?.("[data-cell]");
    if (cell && before.has(cell) && event.key === "Escape") leave(cell);
  });
  document.addEventListener("submit", (event) => {
    const cell = event.target.closest("[data-cell]");
    if (!cell) return;
    event.preventDefault();
    send(cell, event.target);
  }, { capture: true });
})();
