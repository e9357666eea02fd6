// Draws the squares of a field of days, weeks or months, for pickers.js: a native calendar takes no click where
// there is no window. Days and weeks are numbers as a field's `valueAsNumber`, in ms; months count from 1970.
(() => {
  const DAY_MS = 86400000;
  const WEEK = 7;
  const WEEK_MS = WEEK * DAY_MS;
  const WEEKS = 6;
  const YEAR = 12;
  const MONTHS = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
  ];
  const monthOf = (at) => {
    const day = new Date(at);
    return (day.getUTCFullYear() - 1970) * YEAR + day.getUTCMonth();
  };
  const firstOf = (month) => new Date(0).setUTCFullYear(1970, month, 1);
  const mondayOf = (at) => Math.floor((at + 3 * DAY_MS) / WEEK_MS) * WEEK_MS - 3 * DAY_MS; // 1970 began on a Thursday
  const weekOf = (monday) => {
    const year = new Date(monday + 3 * DAY_MS).getUTCFullYear();
    return { year, week: 1 + Math.round((monday - mondayOf(Date.UTC(year, 0, 4))) / WEEK_MS) };
  };
  // The same day of another month, or its last, at the same time of the day.
  const turned = (at, by) => {
    const [first, next] = [firstOf(monthOf(at) + by), firstOf(monthOf(at) + by + 1)];
    const since = at - firstOf(monthOf(at));
    return first + Math.min(since, next - first - DAY_MS + since % DAY_MS);
  };
  // What is drawn at one place, and what a press on it does.
  const part = (text, looks, does = null, label = "") => {
    const element = document.createElement("div");
    element.textContent = text;
    element.className = looks.filter(Boolean).join(" ");
    element.setAttribute("role", does ? "button" : "presentation");
    if (label) element.setAttribute("aria-label", label);
    if (does) element.tabIndex = -1;
    return { element, does };
  };
  const pane = (className, parts) => {
    const element = document.createElement("div");
    element.className = className;
    element.append(...parts.map((one) => one.element));
    return { element, parts };
  };
  const head = (title, by, { at, turn }) => [
    part("\u2190", ["turn"], () => turn(by(at, -1))), part(title, ["month"]), part("\u2192", ["turn"], () => turn(by(at, 1))),
  ];
  const foot = (now, name, { fits, clear, choose }) => [
    part("Clear", ["foot"], clear),
    part(name, ["foot", "last", !fits(now) && "off"], fits(now) ? () => choose(now) : null),
  ];
  // Each pane is given where the picker is, what time it is, which squares fit, and what a press does.
  const days = (way, isWeek) => {
    const { at, now, fits, choose } = way;
    const month = monthOf(isWeek ? at + 3 * DAY_MS : at);
    const first = firstOf(month);
    const from = first - new Date(first).getUTCDay() * DAY_MS;
    const time = at - Math.floor(at / DAY_MS) * DAY_MS;
    const squares = [];
    for (let n = 0; n < WEEKS * WEEK; n += 1) {
      const one = from + n * DAY_MS + time;
      const to = isWeek ? mondayOf(one) : one;
      const { year, week } = weekOf(mondayOf(one + DAY_MS));
      const does = fits(to) ? () => choose(to) : null;
      const looks = [monthOf(one) !== month && "other", !does && "off", to === at && "on"];
      if (isWeek && n % WEEK === 0) {
        const row = mondayOf(one + DAY_MS);
        const fit = fits(row);
        squares.push(part(String(week), ["number", !fit && "off", row === at && "on"], fit ? () => choose(row) : null,
          `${year}-W${String(week).padStart(2, "0")}`));
      }
      squares.push(part(String(new Date(one).getUTCDate()), looks, does, new Date(one).toISOString().slice(0, 10)));
    }
    const title = `${MONTHS[new Date(first).getUTCMonth()]} ${new Date(first).getUTCFullYear()}`;
    const by = (n, months) => isWeek ? mondayOf(turned(n + 3 * DAY_MS, months)) : turned(n, months);
    return pane(isWeek ? "calendar weeks" : "calendar", [
      ...head(title, by, way),
      ...(isWeek ? [part("Week", [])] : []), ...[..."SMTWTFS"].map((letter) => part(letter, [])),
      ...squares,
      ...foot(isWeek ? mondayOf(now) : now - now % DAY_MS + time, isWeek ? "This week" : "Today", way),
    ]);
  };
  const months = (way) => {
    const { at, now, fits, choose } = way;
    const year = Math.floor(at / YEAR);
    const squares = MONTHS.map((name, n) => {
      const month = year * YEAR + n;
      const does = fits(month) ? () => choose(month) : null;
      return part(name.slice(0, 3), [!does && "off", month === at && "on"], does, `${name} ${year + 1970}`);
    });
    return pane("calendar months", [
      ...head(String(year + 1970), (n, years) => n + years * YEAR, way), ...squares,
      ...foot(monthOf(now), "This month", way),
    ]);
  };
  Object.assign(globalThis.stepmill.layer, {
    DAY_MS, WEEK_MS, YEAR, days, mondayOf, monthOf, months, pane, part, turned,
  });
})();
