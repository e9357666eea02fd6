// Returns the visible usability defects of a page of a world: a sentence for each, five at most.
function findDefects() {
  const root = document.documentElement;
  const found = [];
  const words = (element) =>
    (element.innerText || element.value || element.name || element.tagName).trim().slice(0, 40);
  const stays = (element) => {
    for (let at = element; at; at = at.parentElement)
      if (at.tagName === "DIALOG" || ["fixed", "sticky"].includes(getComputedStyle(at).position)) return true;
    return false;
  };
  const isShown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });

  const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  // The colours behind an element's text, rearmost first; null if a picture is there, which is not judged.
  const groundOf = (element) => {
    const layers = [];
    for (let at = element; ; at = at.parentElement) {
      const style = at && getComputedStyle(at);
      if (style && style.backgroundImage !== "none") return null;
      const colour = style ? style.backgroundColor : "white";
      layers.push(colour);
      paint.fillStyle = colour;
      if (!at || paint.fillStyle.startsWith("#")) return layers.toReversed(); // only an opaque colour reads back as #…
    }
  };
  const luminance = (layers) => {
    for (const colour of layers) {
      paint.fillStyle = colour;
      paint.fillRect(0, 0, 1, 1);
    }
    const [red, green, blue] = [...paint.getImageData(0, 0, 1, 1).data]
      .slice(0, 3)
      .map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (element, part) => {
    const ground = groundOf(element);
    if (!ground) return 21;
    const [one, other] = [luminance(ground), luminance([...ground, getComputedStyle(element, part).color])];
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  };

  const within = (box, frame) => ({
    left: Math.max(box.left, frame.left), top: Math.max(box.top, frame.top),
    right: Math.min(box.right, frame.right), bottom: Math.min(box.bottom, frame.bottom),
  });
  // The part of a box that no ancestor of an element clips.
  const seen = (element, box) => {
    let part = box;
    for (let at = element; at; at = at.parentElement)
      if (at !== document.body && at !== root && getComputedStyle(at).overflow !== "visible")
        part = within(part, at.getBoundingClientRect());
    return part;
  };
  // Users cannot scroll to the hidden part, and no ellipsis marks it.
  const clips = ({ overflowX, textOverflow }) =>
    ["hidden", "clip"].includes(overflowX) && textOverflow !== "ellipsis";
  const spills = ({ overflowX, textOverflow }) =>
    !["auto", "scroll"].includes(overflowX) && textOverflow !== "ellipsis";
  const holderOf = (element) => {
    let at = element;
    while (getComputedStyle(at).display.startsWith("inline") && at.parentElement) at = at.parentElement;
    return at;
  };

  const lines = []; // the visible part of each line of text, with its element and its text node
  const told = new Set(); // elements whose texts were checked
  const range = document.createRange();
  const lookAtText = (text, element) => {
    const say = (what) => {
      if (!told.has(element)) found.push(`'${words(element)}' ${what}`);
    };
    const ratio = told.has(element) ? 21 : contrast(element);
    if (ratio < 3) say(`has a contrast of ${ratio.toFixed(1)} to 1`);
    const holder = holderOf(element);
    const style = getComputedStyle(holder);
    const frame = holder.getBoundingClientRect();
    range.selectNodeContents(text);
    const boxes = range.getClientRects();
    if (boxes.length > 3 && text.data.trim().length < 2 * boxes.length) say("has a letter a line");
    for (const box of boxes) {
      if (box.width < 2 || box.height < 2 || frame.width < 2) continue;
      const isOut = Math.max(box.right - frame.right, frame.left - box.left) > 3;
      if (isOut && clips(style)) say("is cut off");
      else if (isOut && spills(style)) say("runs out of what it is in");
      told.add(element);
      const part = seen(element, box);
      const isInSight = part.right - part.left > 2 && part.bottom - part.top > 2;
      if (!stays(element) && isInSight && lines.length < 400) lines.push([part, element, text]);
    }
    told.add(element);
  };
  const lookAtTexts = () => {
    for (const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); walk.nextNode();) {
      const text = walk.currentNode;
      const element = text.parentElement;
      if (text.data.trim() && !element.closest("option,script,style,[disabled]") && isShown(element))
        lookAtText(text, element);
    }
  };
  const lookAtLines = () => {
    for (const [at, [one, element, text]] of lines.entries())
      for (const [other, otherElement, otherText] of lines.slice(at + 1)) {
        const both = within(one, other);
        const height = both.bottom - both.top;
        const least = Math.min(one.bottom - one.top, other.bottom - other.top);
        if (text !== otherText && both.right - both.left > 3 && height > 0.5 * least)
          found.push(`'${words(element)}' lies over '${words(otherElement)}'`);
      }
  };
  const lookAtHints = () => {
    for (const field of document.body.querySelectorAll("[placeholder]:placeholder-shown")) {
      const ratio = isShown(field) ? contrast(field, "::placeholder") : 21;
      if (ratio < 3) found.push(`'${field.placeholder}' has a contrast of ${ratio.toFixed(1)} to 1`);
    }
  };
  const lookAtLabels = () => {
    for (const field of document.body.querySelectorAll("[type=radio],[type=checkbox]")) {
      const label = field.labels[0];
      const box = field.getBoundingClientRect();
      if (!label || !isShown(field) || !isShown(label)) continue;
      range.selectNodeContents(label);
      const said = range.getBoundingClientRect();
      if (Math.max(said.left - box.right, box.left - said.right) > 60)
        found.push(`'${words(label)}' is far from its box`);
    }
  };
  const lookAtControls = () => {
    for (const control of document.body.querySelectorAll("a,button,select,textarea,input,summary")) {
      const first = control.getClientRects()[0];
      if (!first || !isShown(control)) continue;
      const box = seen(control, first);
      const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
      if (box.right - box.left < 3 || box.bottom - box.top < 3) continue;
      if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) continue;
      const over = document.elementFromPoint(x, y);
      if (!over || control.contains(over) || over.contains(control) || stays(over)) continue;
      if (![...(control.labels || [])].some((label) => label.contains(over)))
        found.push(`'${words(control)}' is covered by '${words(over)}'`);
    }
  };

  if (root.scrollWidth > innerWidth + 1) found.push(`the page is ${root.scrollWidth} px wide`);
  lookAtTexts();
  lookAtLines();
  lookAtHints();
  lookAtLabels();
  lookAtControls();
  return found.slice(0, 5);
}
