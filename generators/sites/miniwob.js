// Begins the problem of a page of MiniWoB++, in the page's world, and returns its goal. The page's timer is lifted to
// `timerMs`. From then on `stepmillProblem(nonce)` is the raw reward, as it was at the problem's first end, and whether
// the problem has ended; it is `left` for any other nonce. `bare` takes out of sight what is beside the problem.
function beginProblem(seed, nonce, { bare, left, timerMs }) {
  if ("stepmillProblem" in window) throw new Error("the page has begun its problem before");
  core.EPISODE_MAX_TIME = timerMs;
  if (bare) core.countdownTimer = () => {};
  Math.seedrandom(seed);
  core.startEpisodeReal();
  core.hideDisplay();
  core.startEpisodeReal = () => {};
  if (bare) {
    core.startEpisode = () => {};
    core.cover_div.remove();
    document.body.removeEventListener("click", core.canvasDrawClick);
    for (const id of ["click-canvas", "query-wrap"]) {
      const panel = document.getElementById(id);
      if (panel) panel.style.display = "none";
    }
  }
  const stop = () => {
    for (let last = setTimeout(() => {}); last > 0; last -= 1) clearTimeout(last);
    window.setTimeout = window.setInterval = window.requestAnimationFrame = () => 0;
  };
  const end = core.endEpisode;
  let latched = null;
  core.endEpisode = (...reported) => {
    if (latched !== null) return;
    try {
      end.apply(core, reported);
    } finally {
      if (WOB_DONE_GLOBAL) {
        latched = WOB_RAW_REWARD_GLOBAL;
        if (bare) stop();
      }
    }
  };
  Object.defineProperty(window, "stepmillProblem", {
    value: (asked) => {
      if (asked !== nonce) return left;
      return latched === null ? [WOB_RAW_REWARD_GLOBAL, false] : [latched, true];
    },
  });
  const goal = core.getUtterance();
  return typeof goal === "string" ? goal : goal.utterance;
}
