// Runs in every new document before its own scripts, in the page's world.
// Animation frames, performance.now and idle callbacks follow Date, and so the virtual clock:
// they stand still while it does and fire at exact phases when it moves.
(() => {
  const now = Date.now.bind(Date);
  const later = setTimeout.bind(window);
  const origin = now();
  const frameMs = 16;
  let queue = null;
  let lastId = 0;
  const flush = () => {
    const callbacks = queue;
    queue = null;
    for (const callback of callbacks.values()) {
      try {
        callback(now() - origin);
      } catch (error) {
        reportError(error);
      }
    }
  };
  // Time stands while a script runs: a loop that waits for it would never end. After many looks at
  // one instant each further look is a little later.
  const PATIENCE = 1000;
  const TICK_MS = 0.05;
  const watch = (read) => {
    let [instant, looks, told] = [-1, 0, 0];
    return () => {
      const at = read();
      if (at !== instant) [instant, looks] = [at, 0];
      looks += 1;
      told = Math.max(told, at + Math.max(0, looks - PATIENCE) * TICK_MS);
      return told;
    };
  };
  performance.now = watch(() => now() - origin);
  const patient = watch(now);
  Date.now = () => Math.floor(patient());
  window.requestAnimationFrame = (callback) => {
    lastId += 1;
    if (queue === null) {
      queue = new Map();
      later(flush, frameMs - ((now() - origin) % frameMs));
    }
    queue.set(lastId, callback);
    return lastId;
  };
  window.cancelAnimationFrame = (id) => {
    if (queue !== null) queue.delete(id);
  };
  window.requestIdleCallback = (callback) =>
    later(() => callback({ didTimeout: false, timeRemaining: () => 10 }), frameMs);
  window.cancelIdleCallback = (id) => clearTimeout(id);
  // A closed shadow root is open to the isolated world, and looks closed to the page: what is in it
  // can be drawn, listed and typed into as anywhere else.
  const closed = new WeakSet();
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function attachShadow(init) {
    if (!init || init.mode !== "closed") return attach.call(this, init);
    const root = attach.call(this, { ...init, mode: "open" });
    closed.add(root);
    return root;
  };
  const veil = (owner, name, instead) => {
    const { get, ...rest } = Object.getOwnPropertyDescriptor(owner, name);
    Object.defineProperty(owner, name, {
      ...rest,
      get() {
        return instead(this, get.call(this));
      },
    });
  };
  veil(Element.prototype, "shadowRoot", (_, root) => (root && closed.has(root) ? null : root));
  veil(ShadowRoot.prototype, "mode", (root, mode) => (closed.has(root) ? "closed" : mode));
  // An empty gesture: the hashes of documents that were recorded before have this element. Its sheet
  // is switched off, because animations are moved by the clock (motion.js).
  const still = document.createElement("style");
  const swallow = (event) => {
    if (event.target === still) event.stopImmediatePropagation(); // no act of the page
  };
  addEventListener("securitypolicyviolation", swallow, true);
  addEventListener("DOMContentLoaded", () => {
    still.textContent =
      "*,*::before,*::after{animation:none!important;transition:none!important;" +
      "caret-color:transparent!important;scroll-behavior:auto!important}";
    document.head.appendChild(still);
    if (still.sheet) still.sheet.disabled = true;
  });
})();
