// Runs in every new document before its own scripts, in the page's world.
// Animation frames, performance.now and idle callbacks follow Date, and so the virtual clock:
// they stand still while it does and fire at exact phases when it moves.
(() => {
  const now = Date.now.bind(Date);
  const later = setTimeout.bind(window);
  const origin = now();
  const frameMs = 16;
  let queue = null;
  let [asked, flushed] = [-1, -1];
  let lastId = 0;
  const flush = () => {
    if (queue === null) return;
    const callbacks = queue;
    queue = null;
    flushed = now();
    for (const callback of callbacks.values()) {
      try {
        callback(now() - origin);
      } catch (error) {
        reportError(error);
      }
    }
    // As after each frame of a browser, styles are computed: a transition begins where two of them differ.
    if (document.documentElement) document.documentElement.getBoundingClientRect();
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
      const mine = new Map();
      queue = mine;
      asked = now();
      later(() => queue === mine && flush(), frameMs - ((now() - origin) % frameMs));
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
  // What a page waits for that neither its clock nor the network decides: it is given real time.
  let waits = 0;
  const wait = () => {
    let done = false;
    waits += 1;
    return () => {
      if (!done) waits -= 1;
      done = true;
    };
  };
  const wrap = (owner, names, around) => {
    for (const name of owner ? names : []) {
      const method = owner[name];
      if (typeof method === "function") owner[name] = around(method);
    }
  };
  const promised = (method) =>
    function promised(...given) {
      const [end, result] = [wait(), method.apply(this, given)];
      Promise.resolve(result).then(end, end);
      return result;
    };
  const called = (method) =>
    function called(...given) {
      const at = given.findIndex((one) => typeof one === "function");
      if (at < 0) return method.apply(this, given);
      const [end, then] = [wait(), given[at]];
      given[at] = function then_(...told) {
        end();
        return then.apply(this, told);
      };
      const result = method.apply(this, given);
      if (result instanceof Promise) result.catch(end);
      return result;
    };
  const told = (...ends) => (method) =>
    function told(...given) {
      const result = method.apply(this, given);
      const source = result instanceof EventTarget ? result : this;
      const end = wait();
      for (const name of ends) source.addEventListener(name, end, { once: true });
      return result;
    };
  // A jump to an anchor is told in a task, which stands with time, and how far it has scrolled with a frame,
  // which does not. A page hears of the jump before: from here if a frame comes first.
  const [jumps, heard] = [[], []];
  const isJump = (one) => one !== undefined && one.newURL === location.href;
  const land = () => {
    for (const jump of jumps.splice(0, isJump(jumps.at(-1)) ? jumps.length : 0)) {
      heard.push(jump.newURL);
      dispatchEvent(new HashChangeEvent("hashchange", jump));
    }
  };
  const { navigation } = window;
  navigation.addEventListener("navigate", ({ hashChange, destination }) => {
    if (!isJump(jumps.at(-1))) jumps.pop();
    if (hashChange) jumps.push({ oldURL: location.href, newURL: destination.url });
  });
  addEventListener("hashchange", (event) => {
    if (!event.isTrusted) return;
    if (heard[0] !== event.newURL) jumps.shift();
    else if (heard.shift()) event.stopImmediatePropagation();
  }, true);
  for (const name of ["scroll", "scrollend"]) addEventListener(name, land, true);
  // A machine that is busy draws frames of its own between ours, and observers of sizes are told in the
  // first. What a page has just asked for with its next frame comes before them, as it does in ours: an
  // observer that is older than all of the page's is told of the same sizes.
  const early = new ResizeObserver(() => {
    land();
    if (asked === now() && flushed !== now()) flush();
    flushed = now();
  });
  const followed = (method) =>
    function followed(...given) {
      method.apply(this, given);
      method.apply(early, given);
    };
  wrap(ResizeObserver.prototype, ["observe"], followed);
  const prototype = (name) => window[name] && window[name].prototype;
  const intercepted = (method) =>
    function intercepted(...given) {
      const result = method.apply(this, given);
      jumps.pop();
      return result;
    };
  wrap(prototype("NavigateEvent"), ["intercept"], intercepted);
  const request = told("success", "error", "blocked");
  wrap(prototype("IDBFactory"), ["open", "deleteDatabase"], request);
  wrap(prototype("IDBDatabase"), ["transaction"], told("complete", "error", "abort"));
  wrap(prototype("FileReader"), ["readAsText", "readAsDataURL", "readAsArrayBuffer"], told("loadend"));
  wrap(prototype("HTMLCanvasElement"), ["toBlob"], called);
  wrap(prototype("LockManager"), ["request"], called);
  wrap(prototype("LockManager"), ["query"], promised);
  wrap(prototype("OffscreenCanvas"), ["convertToBlob"], promised);
  wrap(prototype("HTMLImageElement"), ["decode"], promised);
  wrap(prototype("Blob"), ["text", "arrayBuffer", "bytes"], promised);
  wrap(prototype("SubtleCrypto"), Object.getOwnPropertyNames(prototype("SubtleCrypto") || {}), promised);
  wrap(prototype("CacheStorage"), ["open", "match", "has", "delete", "keys"], promised);
  wrap(prototype("Cache"), ["match", "matchAll", "add", "addAll", "put", "delete", "keys"], promised);
  wrap(window.WebAssembly, ["compile", "instantiate"], promised);
  wrap(window, ["createImageBitmap"], promised);
  const playing = new Map();
  const media = (names, does) => {
    for (const name of names) addEventListener(name, (event) => does(event.target), true);
  };
  const rests = (element) => {
    if (playing.has(element)) playing.get(element)();
    playing.delete(element);
  };
  media(["loadstart", "seeking"], (element) => {
    rests(element);
    playing.set(element, wait());
  });
  media(["loadeddata", "seeked", "error", "emptied", "suspend", "abort"], rests);
  // An animation that is turned at its end has no effect until it has left that end, and is found by
  // nobody before: time goes on, and it is taken a hair's breadth off.
  const MAX_TURNED = 1000;
  const HAIR_MS = 0.001;
  const turned = new Set();
  const turn = (method) =>
    function turn(...given) {
      const result = method.apply(this, given);
      if (turned.size < MAX_TURNED) turned.add(this);
      this.ready.then(() => leave(this), () => {});
      return result;
    };
  const isAtEnd = ({ effect, currentTime }) =>
    effect !== null && currentTime !== null && currentTime >= effect.getComputedTiming().endTime;
  const leave = (animation) => {
    if (animation.playState === "running" && animation.playbackRate < 0 && isAtEnd(animation))
      animation.currentTime -= HAIR_MS;
  };
  wrap(prototype("Animation"), ["play", "reverse", "updatePlaybackRate"], turn);
  const rate = Object.getOwnPropertyDescriptor(Animation.prototype, "playbackRate");
  Object.defineProperty(Animation.prototype, "playbackRate", { ...rate, set: turn(rate.set) });
  // Each frame that is asked for (motion.js) is one of the page's, and says whether it must wait
  // (its default is prevented) and whether something is about to move (it is stopped).
  addEventListener("stepmill-frame", (event) => {
    land();
    if (flushed !== now()) flush();
    if (waits > 0) event.preventDefault();
    if ([...turned].some((one) => one.pending && isAtEnd(one))) event.stopPropagation();
    turned.clear();
  });
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
