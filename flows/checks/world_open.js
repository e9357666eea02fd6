// Opens what a page of a world shows in a window over it, or beside its list, and returns whether it has such a thing.
function openInPlace() {
  const link = document.querySelector("main a[data-place], [data-rows][data-place] a[href]");
  link?.click();
  return link !== null;
}
