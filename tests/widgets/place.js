// Where the middle of a place is: of the last text that is these words, or of what a selector finds.
function findPlace(path) {
  const middle = ({ left, top, width, height }) => [left + width / 2, top + height / 2];
  if (!path.startsWith("=")) {
    let root = document;
    let element = null;
    for (const part of path.split(" >> ")) {
      element = root.querySelector(part);
      if (!element) throw new Error(`nothing at ${part}`);
      root = element.shadowRoot || element;
    }
    return middle(element.getBoundingClientRect());
  }
  const wanted = path.slice(1);
  const range = document.createRange();
  let last = null;
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE) {
      const host = node.parentElement;
      range.selectNodeContents(node);
      const box = range.getBoundingClientRect();
      const isShown = !host || host.checkVisibility({ opacityProperty: true, visibilityProperty: true });
      if (node.data.replace(/\s+/g, " ").trim() === wanted && box.width && isShown) last = box;
      return;
    }
    if (node.shadowRoot) walk(node.shadowRoot);
    for (const child of node.childNodes) walk(child);
  };
  walk(document.body);
  if (!last) throw new Error(`no text ${wanted}`);
  return middle(last);
}
