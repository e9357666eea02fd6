// Runs in every new document before its own scripts, in the page's world: what a page asks its browser for,
// and what a headless one refuses without asking anybody. The question goes out as an event, which the
// isolated world hears (notices.js); the answer comes as one, and then the browser's own function is called,
// which knows by then whether it may.
(() => {
  const stage = (() => {
    try {
      return top.document ? top : null;
    } catch {
      return null; // a frame of another origin: its browser answers it as it does
    }
  })();
  if (!stage) return;
  const tell = (what) => stage.dispatchEvent(new Event(`stepmill-${what}`));
  const ask = (name) =>
    new Promise((resolve) => {
      for (const answer of ["allowed", "blocked"])
        stage.addEventListener(`stepmill-${answer}-${name}`, () => resolve(answer === "allowed"), { once: true });
      tell(`asks-${name}`);
    });
  const wrap = (owner, method, instead) => {
    const native = owner && owner[method];
    if (typeof native !== "function") return;
    Object.defineProperty(owner, method, {
      ...Object.getOwnPropertyDescriptor(owner, method),
      value: { [method](...given) { return instead.call(this, native.bind(this, ...given), ...given); } }[method],
    });
  };
  // What the browser does then is given real time, as in shim.js.
  let waits = 0;
  const wait = (promise) => {
    waits += 1;
    const end = () => {
      waits -= 1;
    };
    promise.then(end, end);
    return promise;
  };
  addEventListener("stepmill-frame", (event) => {
    if (waits > 0) event.preventDefault();
  });
  const after = (name) => (go) => ask(name).then(() => wait(go()));
  wrap(window.Notification, "requestPermission", after("notifications"));
  if (window.MediaDevices)
    wrap(MediaDevices.prototype, "getUserMedia", async (go) => {
      if (await ask("camera")) return wait(go());
      throw new DOMException("Permission denied", "NotAllowedError"); // before it is said that there is none
    });
  if (window.Clipboard)
    for (const method of ["read", "readText"]) wrap(Clipboard.prototype, method, after("clipboard"));
  // What a page copies on a click goes to the session's clipboard: the browser's own is that of all sessions.
  const copy = (text) => {
    stage.dispatchEvent(new CustomEvent("stepmill-copies", { detail: String(text) }));
    return Promise.resolve();
  };
  if (window.Clipboard)
    wrap(Clipboard.prototype, "writeText", (go, text) => navigator.userActivation.isActive ? copy(text) : go());
  if (window.Geolocation) {
    const { getCurrentPosition, watchPosition } = Geolocation.prototype;
    const find = (native, place, found, failed, ...more) => {
      const go = () => new Promise((resolve) => {
        const hear = (told) => (value) => {
          resolve();
          if (typeof told === "function") told(value);
        };
        native.call(place, hear(found), hear(failed), ...more);
      });
      void after("geolocation")(go);
    };
    Geolocation.prototype.getCurrentPosition = {
      getCurrentPosition(...given) { find(getCurrentPosition, this, ...given); },
    }.getCurrentPosition;
    Geolocation.prototype.watchPosition = {
      watchPosition(...given) {
        find(watchPosition, this, ...given);
        return 1;
      },
    }.watchPosition;
  }
  // A link that downloads may be in no document, where nobody else hears that it is pressed.
  const { click, dispatchEvent } = HTMLAnchorElement.prototype;
  const isAlone = (link) => link.hasAttribute("download") && !link.isConnected;
  Object.assign(HTMLAnchorElement.prototype, {
    click() {
      if (isAlone(this)) tell("downloads");
      click.call(this);
    },
    dispatchEvent(event) {
      if (event && event.type === "click" && isAlone(this)) tell("downloads");
      return dispatchEvent.call(this, event);
    },
  });
  // A field's picker is drawn in the isolated world (pickers.js), which prevents this event where it does so.
  for (const owner of [HTMLInputElement, HTMLSelectElement])
    wrap(owner.prototype, "showPicker", function (go) {
      const asks = new Event("stepmill-picker", { cancelable: true, composed: true });
      if (!(this instanceof owner) || dispatchEvent.call(this, asks)) go();
    });
  wrap(window, "print", (go) => {
    tell("print");
    go();
  });
})();
