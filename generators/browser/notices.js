// Hears in the isolated world what a page asks its browser for (asks.js), and tells the session of it.
(() => {
  const MAX_COPIED = 1000000;
  const kept = []; // until the session has given this document the function that tells it
  const tell = (what) => {
    if (what) kept.push(what);
    if (globalThis.stepmillTold) for (const one of kept.splice(0)) globalThis.stepmillTold(one);
  };
  for (const name of ["notifications", "camera", "clipboard", "geolocation"])
    addEventListener(`stepmill-asks-${name}`, () => tell(`asks ${name}`), true);
  addEventListener("stepmill-copies", ({ detail }) => tell(`copies ${String(detail).slice(0, MAX_COPIED)}`), true);
  addEventListener("stepmill-downloads", () => tell("downloads"), true);
  addEventListener("click", (event) => {
    const links = event.composedPath().filter((one) => one.localName === "a");
    if (!event.defaultPrevented && links.some((one) => one.hasAttribute("download"))) tell("downloads");
  });
  addEventListener("stepmill-print", () => tell("print"), true);
  addEventListener("fullscreenerror", () => tell("fullscreen"), true);
  globalThis.stepmill.tell = tell;
  globalThis.stepmill.answered = (name, isAllowed) =>
    void dispatchEvent(new Event(`stepmill-${isAllowed ? "allowed" : "blocked"}-${name}`));
})();
