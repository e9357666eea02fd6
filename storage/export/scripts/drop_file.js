// Drops a file on what is at a point, as a person who drags it there does.
globalThis.dropFile = ([x, y, name, data]) => {
  const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([bytes], name));
  const hit = document.elementFromPoint(x, y);
  for (const kind of ["dragenter", "dragover", "drop"])
    hit.dispatchEvent(
      new DragEvent(kind, { bubbles: true, cancelable: true, clientX: x, clientY: y, dataTransfer }));
};
