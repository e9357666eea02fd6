// What a component says of itself, in the order of its events; and the first element that a selector finds.
(() => {
  globalThis.events = [];
  globalThis.said = (what) => {
    globalThis.events.push(what === undefined ? null : what);
  };
  globalThis.$ = (selector) => document.querySelector(selector);
})();
