// Moves what moves by itself, in the isolated world: the timelines of documents stand still (their
// playback rate is 0), and each frame takes the animations on by the virtual time that has passed.
// Whatever has an end comes to it, with the events of a browser; what has none stands at its beginning.
(() => {
  const { closest, pages, places, shadowOf, tagOf } = globalThis.stepmill.parts;
  const MAX_ANIMATIONS = 10000;
  // The caret blinks and smooth scrolling goes on in real time. No policy of a page's author bars
  // such a sheet, which is no element; a page that replaces its list of sheets gets it again.
  const CALM = "*,*::before,*::after{caret-color:transparent!important;scroll-behavior:auto!important}";
  const calm = new WeakMap();
  const soothe = (page) => {
    let sheet = calm.get(page);
    if (!sheet) {
      sheet = new page.defaultView.CSSStyleSheet();
      sheet.replaceSync(CALM);
      calm.set(page, sheet);
    }
    if (!page.adoptedStyleSheets.includes(sheet)) page.adoptedStyleSheets.push(sheet);
  };
  // What a frame has shown. Nothing else is taken on: whether the browser has begun an animation that a script has
  // made since then is a matter of real time, so each begins with the frame that shows it first.
  const shown = new WeakSet();
  // A window may draw a frame before its time is stopped. What has begun in that one is then as far from
  // its beginning as the two clocks are from each other, which are hours, and begins again.
  const LONG_MS = 3600000;
  const isLost = (far, length) => far > length + LONG_MS;
  // One animation, as what is left of it in ms and how it is taken on; null if it has come to its end.
  const ofAnimation = (animation) => {
    if (animation.playState !== "running" || !animation.effect) return null;
    const page = animation.effect.target ? animation.effect.target.ownerDocument : null;
    if (!page || animation.timeline !== page.timeline) return null;
    const { endTime, delay } = animation.effect.getComputedTiming();
    if (animation.pending) // begins with the next frame; until then its rate is not yet its own
      return endTime === Infinity ? null : { left: endTime, go: () => {}, of: animation };
    const [at, rate] = [animation.currentTime, animation.playbackRate];
    if (at === null || rate === 0) return null;
    if (endTime === Infinity) {
      if (rate > 0 && at < delay) animation.currentTime = delay;
      return null;
    }
    const end = rate > 0 ? endTime : 0;
    if (isLost((end - at) * Math.sign(rate), endTime)) {
      animation.currentTime = endTime - end;
      return ofAnimation(animation);
    }
    const left = (end - at) / rate;
    if (left <= 0) return null;
    const go = (ms) => { animation.currentTime = ms >= left ? end : at + ms * rate; };
    return { left, go, of: animation };
  };
  const MAX_REPEATS = 100;
  const MOVING = "animate,animateTransform,animateMotion,set";
  // An SVG's own animations have one clock for each picture, in seconds.
  const seconds = (text) => {
    const found = /^\+?([\d.]+)(ms|s|min|h)?$/.exec((text || "").trim());
    if (!found) return NaN;
    return Number(found[1]) * { ms: 0.001, s: 1, min: 60, h: 3600 }[found[2] || "s"];
  };
  // Elements that have ended, perhaps before their length: of these nothing more comes until they begin again.
  const [heard, ended] = [new WeakSet(), new WeakSet()];
  const hear = (element) => {
    if (heard.has(element)) return;
    heard.add(element);
    element.addEventListener("beginEvent", () => ended.delete(element));
    element.addEventListener("endEvent", () => ended.add(element));
  };
  // When an element begins, repeats and ends; nothing if it has not begun and may never.
  const turnsOf = (element) => {
    hear(element);
    let start = 0;
    try {
      start = element.getStartTime();
    } catch {
      return [];
    }
    const [repeats, length] = [element.getAttribute("repeatCount"), seconds(element.getAttribute("dur"))];
    const begin = { at: start, tell: null };
    if (repeats === "indefinite" || !Number.isFinite(length)) return [begin];
    const count = Number(repeats) || 1;
    // A jump to a repetition is told to nobody by the browser: so by us, and after what has begun before.
    const tell = () => ended.has(element) || element.dispatchEvent(new Event("repeatEvent"));
    const again = Array.from(
      { length: Math.min(Math.ceil(count), MAX_REPEATS) - 1 },
      (_, n) => ({ at: start + (n + 1) * length, tell }),
    );
    return [begin, ...again, { at: start + count * length, tell: null }];
  };
  // A picture is taken on to just after the next of these, because a jump over one tells nobody of it.
  const JUST_S = 0.001;
  const ofPicture = (svg) => {
    const at = svg.getCurrentTime();
    const turns = [...svg.querySelectorAll(MOVING)].flatMap(turnsOf).filter((one) => one.at > at);
    if (!turns.length) return null;
    const next = Math.min(...turns.map((one) => one.at));
    const left = (next - at) * 1000;
    const go = (ms) => {
      svg.setCurrentTime(ms < left ? at + ms / 1000 : next + JUST_S);
      const passed = ms < left ? [] : turns.filter((one) => one.at <= next + JUST_S);
      for (const one of passed) if (one.tell) setTimeout(one.tell);
    };
    return { left, go, of: svg };
  };
  const moving = () => {
    const found = [];
    for (const place of places()) {
      soothe(place.document);
      for (const scope of place.scopes) {
        for (const animation of scope.getAnimations().slice(0, MAX_ANIMATIONS))
          found.push(ofAnimation(animation));
        for (const svg of scope.querySelectorAll("svg"))
          if (tagOf(svg) === "svg" && !svg.ownerSVGElement && svg.querySelector(MOVING))
            found.push(ofPicture(svg));
      }
    }
    return found.filter(Boolean);
  };
  // Draws the pages' own frames with ours, and returns what they say (shim.js): whether one still works
  // at what real time decides, and whether one has what begins to move with the next frame.
  const drawn = () => {
    const told = pages().map((page) => {
      const event = new Event("stepmill-frame", { cancelable: true });
      page.defaultView.dispatchEvent(event);
      return event;
    });
    return [told.some((one) => one.defaultPrevented), told.some((one) => one.cancelBubble)];
  };
  // With a frame, a field that was disabled loses the focus. A browser lets a timer do it, which stands
  // with time, while the page goes on with what it waits for.
  const [activeIn, activeBelow] = [Document, ShadowRoot].map((one) =>
    Function.prototype.call.bind(Object.getOwnPropertyDescriptor(one.prototype, "activeElement").get));
  const leaveDisabled = () => {
    for (const page of pages()) {
      let [focused, next] = [null, activeIn(page)];
      while (next) {
        focused = next;
        next = shadowOf(focused) && activeBelow(shadowOf(focused));
      }
      if (focused && closest(focused, ":disabled") === focused) HTMLElement.prototype.blur.call(focused);
    }
  };
  const nextFrame = () => new Promise((resolve) => {
    requestAnimationFrame(resolve);
  });
  // What has begun with a frame is the browser's to start, a frame or more of real time later. Until then it cannot be
  // taken on, and the time that passes meanwhile would be lost to it.
  const MAX_PENDING_FRAMES = 20;
  const isPending = () =>
    places().some((place) => place.scopes.some((scope) => scope.getAnimations().some((one) => one.pending)));
  // Takes everything on by `passed` ms, waits for a frame, and says in how many ms the first of them
  // ends; null if nothing moves that has an end, or real time moves it, for which `passed` is null;
  // -1 while the page works at what real time decides.
  globalThis.stepmill.frame = async (passed) => {
    if (globalThis.stepmill.followFrames) globalThis.stepmill.followFrames();
    globalThis.stepmill.tell();
    if (passed) for (const one of moving()) if (shown.has(one.of)) one.go(passed);
    await nextFrame();
    if (passed === null) return null;
    const [isBusy, begins] = drawn();
    leaveDisabled();
    if (isBusy) return -1;
    for (let frames = 0; frames < MAX_PENDING_FRAMES && isPending(); frames += 1) await nextFrame();
    const found = moving();
    for (const one of found) shown.add(one.of);
    const left = found.map((one) => one.left);
    if (begins) left.push(0);
    return left.length ? left.reduce((one, other) => Math.min(one, other)) : null;
  };
})();
