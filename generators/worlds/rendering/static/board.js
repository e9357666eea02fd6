// Boards: a card that is dragged to another column sends the form of the step that leads there, where it has one.
(() => {
  const STILL = 5; // CSS px that a pointer may move in a click
  let held = null;

  const columnAt = (event) => document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-column]");

  document.addEventListener("pointerdown", (event) => {
    const card = event.target.closest("[data-card]");
    if (card && event.button === 0 && !event.target.closest("button, input, select")) {
      held = { card, x: event.clientX, y: event.clientY, moved: false };
    }
  });

  document.addEventListener("pointermove", (event) => {
    if (!held) return;
    const x = event.clientX - held.x;
    const y = event.clientY - held.y;
    held.moved ||= Math.hypot(x, y) > STILL;
    if (!held.moved) return;
    held.card.classList.add("held");
    held.card.style.transform = `translate(${x}px, ${y}px)`;
  });

  document.addEventListener("pointerup", (event) => {
    if (!held) return;
    const { card, moved } = held;
    held = null;
    const column = moved && columnAt(event);
    card.classList.remove("held");
    card.style.transform = "";
    if (!column) return;
    const form = [...card.querySelectorAll("form")].find((one) => one.dataset.to === column.dataset.column);
    form?.requestSubmit();
  });

  document.addEventListener("dragstart", (event) => {
    if (event.target.closest?.("[data-card]")) event.preventDefault();
  });
})();
