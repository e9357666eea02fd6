// What a component says of itself, in the order of its events; and the first element that a selector finds.
(() => {
  globalThis.events = [];
  globalThis.said = (what) => {
    globalThis.events.push(what === undefined ? null : what);
  };
  globalThis.process = { env: { NODE_ENV: "production" } }; // which some files ask for as if they were bundled
  globalThis.$ = (selector) => document.querySelector(selector);
})();
