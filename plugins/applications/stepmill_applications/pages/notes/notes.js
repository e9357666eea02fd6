// The page of the notes: a list, and one note in an editor. Each change goes to the server over a WebSocket,
// and what any page writes comes back over it.
import { Editor } from "@tiptap/core";
import StarterKit from "@tiptap/starter-kit";

const list = document.querySelector("#list");
const title = document.querySelector("#title");
const tools = document.querySelector("#tools");
const status = document.querySelector("#status");
const socket = new WebSocket(`ws://${location.host}/live`);
const SAVE_MS = 300;
let notes = [];
let current = null;
let saving = 0;

const editor = new Editor({
  element: document.querySelector("#editor"),
  extensions: [StarterKit.configure({ link: { openOnClick: false }, trailingNode: false })],
  editorProps: { attributes: { "aria-label": "Text", role: "textbox", "aria-multiline": "true" } },
  onUpdate: save,
  onTransaction: showTools,
});

const TOOLS = [
  ["Bold", () => editor.chain().focus().toggleBold().run(), () => editor.isActive("bold")],
  ["Italic", () => editor.chain().focus().toggleItalic().run(), () => editor.isActive("italic")],
  ["Strike", () => editor.chain().focus().toggleStrike().run(), () => editor.isActive("strike")],
  ["Heading", () => editor.chain().focus().toggleHeading({ level: 2 }).run(), () => editor.isActive("heading")],
  ["Bullet list", () => editor.chain().focus().toggleBulletList().run(), () => editor.isActive("bulletList")],
  ["Numbered list", () => editor.chain().focus().toggleOrderedList().run(), () => editor.isActive("orderedList")],
  ["Quote", () => editor.chain().focus().toggleBlockquote().run(), () => editor.isActive("blockquote")],
  ["Undo", () => editor.chain().focus().undo().run(), () => false],
  ["Redo", () => editor.chain().focus().redo().run(), () => false],
];

for (const [name, act] of TOOLS) {
  const button = document.createElement("button");
  button.textContent = name;
  button.addEventListener("click", act);
  tools.append(button);
}

function showTools() {
  for (const [place, button] of [...tools.children].entries()) button.setAttribute("aria-pressed", TOOLS[place][2]());
}

function send(message) {
  status.textContent = "Saving";
  socket.send(JSON.stringify(message));
}

function save() {
  clearTimeout(saving);
  status.textContent = "Changed";
  saving = setTimeout(() => {
    saving = 0;
    send({ do: "save", id: current, title: title.value, html: editor.getHTML() });
  }, SAVE_MS);
}

function show(id) {
  current = id;
  const note = notes.find((one) => one.id === id);
  title.value = note?.title ?? "";
  title.disabled = !note;
  editor.setEditable(Boolean(note), false);
  editor.commands.setContent(note?.html ?? "", { emitUpdate: false });
  showList();
}

function showList() {
  list.replaceChildren(
    ...notes.map((note) => {
      const button = document.createElement("button");
      button.textContent = note.title || "Untitled";
      if (note.id === current) button.setAttribute("aria-current", "true");
      button.addEventListener("click", () => show(note.id));
      const item = document.createElement("li");
      item.append(button);
      return item;
    }),
  );
}

socket.addEventListener("message", ({ data }) => {
  const told = JSON.parse(data);
  notes = told.notes;
  status.textContent = "Saved";
  if (told.opened !== undefined || !notes.some((one) => one.id === current)) show(told.opened ?? notes[0]?.id ?? null);
  else showList();
});
socket.addEventListener("close", () => (status.textContent = "Not connected"));
title.addEventListener("input", save);
document.querySelector("#new").addEventListener("click", () => send({ do: "new" }));
document.querySelector("#delete").addEventListener("click", () => {
  // oxlint-disable-next-line no-alert -- what it asks is to be answered
  if (current !== null && confirm(`Delete the note "${title.value}"?`)) send({ do: "delete", id: current });
});
