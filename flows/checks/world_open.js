// Clicks the first link that opens in a dialog or beside its list, and returns whether the page has such a link.
function openInPlace() {
  const link = document.querySelector("main a[data-place], [data-rows][data-place] a[href]");
  link?.click();
  return link !== null;
}
