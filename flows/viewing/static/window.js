"use strict";

// Copy the id beside a button.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const said = button.textContent;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "copied";
  } catch {
    button.textContent = "not allowed";
  }
  setTimeout(() => { button.textContent = said; }, 1200);
});

// A page that waits for something asks again.
const waiting = document.querySelector("[data-reload]");
if (waiting) setTimeout(() => location.reload(), Number(waiting.dataset.reload));

// Keys: a link or a field that names one is followed or entered by it.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  const named = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!named) return;
  event.preventDefault();
  if (named.matches("a")) named.click();
  else named.focus();
});

// A review is chosen by its letter; a reason is asked for where it is needed.
document.addEventListener("keydown", (event) => {
  const form = document.querySelector("[data-review]");
  if (!form || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not([type=radio]), textarea, select")) return;
  const choice = form.querySelector(`[data-choose="${CSS.escape(event.key)}"]`);
  if (!choice) return;
  event.preventDefault();
  choice.checked = true;
  form.querySelector("[data-reason]").focus();
});

// In a list the arrow keys go from card to card.
const cards = [...document.querySelectorAll("[data-card]")];
document.addEventListener("keydown", (event) => {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!cards.length || by === undefined || event.target.closest("input, textarea, select")) return;
  const at = cards.indexOf(document.activeElement);
  cards[Math.min(cards.length - 1, Math.max(0, at + by))].focus();
  event.preventDefault();
});

class Player {
  constructor(root) {
    this.root = root;
    this.steps = [...root.querySelectorAll("article.step")];
    this.at = this.steps.findIndex((step) => !step.hidden);
    this.timer = this.blinker = null;
    root.querySelectorAll("[data-go]").forEach((button) => button.addEventListener("click", () => this.go(button.dataset.go)));
    root.querySelector("[data-fade]").addEventListener("input", (event) => this.fade(event.target.value / 100));
    root.querySelectorAll(".strip a").forEach((link) => link.addEventListener("click", (event) => {
      event.preventDefault();
      this.show(this.steps.findIndex((step) => step.dataset.step === link.dataset.step));
    }));
    document.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("hashchange", () => this.follow());
    this.follow();
    this.show(this.at, false);
  }

  follow() {
    const at = this.steps.findIndex((step) => `#${step.id}` === location.hash);
    if (at >= 0) this.show(at, false);
  }

  show(at, tell = true) {
    this.at = Math.min(this.steps.length - 1, Math.max(0, at));
    this.steps.forEach((step, place) => { step.hidden = place !== this.at; });
    const shown = this.steps[this.at];
    this.root.querySelectorAll(".strip a").forEach((link) => {
      if (link.dataset.step === shown.dataset.step) link.setAttribute("aria-current", "step");
      else link.removeAttribute("aria-current");
    });
    this.root.querySelector("[data-where]").textContent = `step ${shown.dataset.step} of ${this.steps.length - 1}`;
    this.root.querySelector("[data-fade]").value = 0;
    this.fade(0);
    const next = this.steps[this.at + 1];
    if (next) next.querySelectorAll("img").forEach((picture) => { picture.loading = "eager"; });
    if (tell) {
      const address = new URL(location.href);
      address.searchParams.set("step", shown.dataset.step);
      address.hash = "";
      history.replaceState(null, "", address);
    }
  }

  fade(share) {
    const after = this.steps[this.at].querySelector(".after");
    if (after) after.style.opacity = share;
    this.root.toggleAttribute("data-plain", share > 0.5);
  }

  press(name, pressed) {
    this.root.querySelector(`[data-go="${name}"]`).setAttribute("aria-pressed", String(pressed));
  }

  stop() {
    clearInterval(this.timer);
    clearInterval(this.blinker);
    this.timer = this.blinker = null;
    this.press("play", false);
    this.press("blink", false);
    this.fade(0);
  }

  go(what) {
    const running = { play: this.timer, blink: this.blinker }[what];
    this.stop();
    if (running) return;
    if (what === "first") this.show(0);
    if (what === "last") this.show(this.steps.length - 1);
    if (what === "back") this.show(this.at - 1);
    if (what === "on") this.show(this.at + 1);
    if (what === "play") {
      if (this.at === this.steps.length - 1) this.show(0);
      this.press("play", true);
      this.timer = setInterval(() => {
        if (this.at >= this.steps.length - 1) this.stop();
        else this.show(this.at + 1);
      }, 900);
    }
    if (what === "blink") {
      let after = false;
      this.press("blink", true);
      this.blinker = setInterval(() => { after = !after; this.fade(after ? 1 : 0); }, 500);
    }
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, button, summary")) return;
    const what = { ArrowRight: "on", ArrowLeft: "back", Home: "first", End: "last", " ": "play", b: "blink" }[event.key];
    if (!what) return;
    event.preventDefault();
    this.go(what);
  }
}

document.querySelectorAll("[data-player]").forEach((root) => new Player(root));
