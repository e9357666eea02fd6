// Returns the source of the page, of the open shadow roots in it and of its readable frames, as replays compare them,
// and the names and values of their named fields.
function readPage() {
  const scopes = [document];
  const sources = [];
  const fields = [];
  for (let at = 0; at < scopes.length; at += 1) {
    const scope = scopes[at];
    sources.push(scope.documentElement ? scope.documentElement.outerHTML : scope.innerHTML || "");
    for (const element of scope.querySelectorAll("*")) {
      if (element.shadowRoot) scopes.push(element.shadowRoot);
      if (element.matches("iframe,frame") && element.contentDocument) scopes.push(element.contentDocument);
      if (element.matches("input[name],textarea[name],select[name]")) fields.push([element.name, element.value]);
    }
  }
  return { source: sources.join("\n"), fields };
}
