// What a person sees of a page, as far as a script can say it: run in the page's own world.
(() => {
  const lines = [];
  const values = [];
  const seen = (element) => {
    const style = element.ownerDocument.defaultView.getComputedStyle(element);
    return element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && Number(style.opacity) > 0.01;
  };
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE) {
      const parent = node.parentElement || node.getRootNode().host;
      const range = node.ownerDocument.createRange();
      range.selectNodeContents(node);
      const text = node.data.replace(/\s+/g, " ").trim();
      if (text && range.getClientRects().length && parent && seen(parent)) lines.push(text);
      return;
    }
    if (node.nodeType !== Node.ELEMENT_NODE && node.nodeType !== Node.DOCUMENT_FRAGMENT_NODE) return;
    if (node.nodeType === Node.ELEMENT_NODE) {
      // What a browser draws over a page is no text of the page, where we draw it ourselves as well.
      if (node.tagName === "STEPMILL-LIST") return;
      if (["SCRIPT", "STYLE", "TITLE", "TEMPLATE", "NOSCRIPT", "OPTION"].includes(node.tagName)) return;
      if (["INPUT", "TEXTAREA", "SELECT"].includes(node.tagName)) {
        const on = node.type === "checkbox" || node.type === "radio";
        values.push(on ? String(node.checked) : [...(node.selectedOptions || [])].map((one) => one.label).join("|") || node.value);
        return;
      }
      if (node.isContentEditable && !(node.parentElement && node.parentElement.isContentEditable))
        values.push(node.innerText);
      if (node.tagName === "IFRAME") {
        if (node.contentDocument && node.contentDocument.body) walk(node.contentDocument.body);
        return;
      }
      if (node.shadowRoot) {
        walk(node.shadowRoot);
        return;
      }
      if (node.tagName === "SLOT" && node.assignedNodes().length) {
        for (const one of node.assignedNodes()) walk(one);
        return;
      }
    }
    for (const child of node.childNodes) walk(child);
  };
  if (document.body) walk(document.body);
  return {
    events: (window.events || []).map(String), text: lines, values,
    url: location.pathname + location.search + location.hash, title: document.title,
  };
})()
