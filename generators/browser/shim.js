// Runs in every new document before its own scripts, in the page's world.
// Animation frames, performance.now and idle callbacks follow Date, and so the virtual clock:
// they stand still while it does and fire at exact phases when it moves. CSS animations,
// transitions and the blinking caret, which run on real time, are switched off.
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
  performance.now = () => now() - origin;
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
  addEventListener("DOMContentLoaded", () => {
    const still = document.createElement("style");
    still.textContent =
      "*,*::before,*::after{animation:none!important;transition:none!important;" +
      "caret-color:transparent!important;scroll-behavior:auto!important}";
    document.head.appendChild(still);
  });
})();
