// Runs in every new document before its own scripts, in the page's world. Gives a page what `kept` has for its
// origin, by keys of `localStorage`, but for the keys that the page has already.
function fillStorage(kept) {
  const own = kept[location.origin];
  try {
    for (const [key, value] of Object.entries(own || {}))
      if (localStorage.getItem(key) === null) localStorage.setItem(key, value);
  } catch {
    // The page has no storage: its origin is opaque.
  }
}
