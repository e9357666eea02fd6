// How pages of worlds behave: single pages, windows over a page, panels beside a list, endless lists, tabs, menus,
// and what stands in the way. It listens on the document alone, so that it does not matter when or how a part of a
// page came there. Whenever content has come, `world:drawn` is dispatched on the element that holds it.
(() => {
  "use strict";
  const draws = () => document.documentElement.dataset.delivery !== "server"; // links load no page
  let latest = 0; // the last page that was asked for: an answer to an earlier one is not drawn

  const drawn = (element) => element.dispatchEvent(new CustomEvent("world:drawn", { bubbles: true }));

  // Fetches a page: `part` is "page" for what the window is to show, "inside" for what a part of it is to hold.
  const fetchPage = async (address, part, options = {}) => {
    const answer = await fetch(address, { ...options, headers: { ...options.headers, Part: part } });
    const text = await answer.text();
    return { answer, shown: new DOMParser().parseFromString(text, "text/html") };
  };
  const sending = (form, submitter) => {
    const fields = new URLSearchParams(new FormData(form, submitter));
    return { method: "POST", body: fields };
  };
  const addressOf = (form) => new URL(form.getAttribute("action") || location.href, location.href).href;

  // Enhanced and single pages: draws a page in place of the present one, and names it in the address.
  const show = async (address, { push = true, options = {} } = {}) => {
    const mine = (latest += 1);
    const { answer, shown } = await fetchPage(address, "page", options);
    if (mine !== latest) return;
    if (push && (answer.ok || !options.method)) history.pushState(null, "", answer.url);
    document.title = shown.title;
    document.body.replaceChildren(...shown.body.childNodes);
    scrollTo(0, 0);
    drawn(document.body);
  };
  const openPage = (address) => {
    if (draws()) show(address);
    else location.assign(address);
  };

  // Places: what is fetched into a window over the page, or into the panel beside a list.
  const put = (holder, shown, address) => {
    const main = shown.querySelector("main");
    for (const form of main.querySelectorAll("form:not([action])")) form.setAttribute("action", address);
    const heading = main.querySelector("h1");
    const title = holder.querySelector("[data-title]") || holder.querySelector("h2");
    if (holder.localName === "dialog" && heading && title) {
      title.textContent = heading.textContent;
      heading.remove();
    }
    holder.querySelector("[data-hold]").replaceChildren(...main.childNodes);
    drawn(holder);
  };
  const openIn = async (place, address) => {
    const { answer, shown } = await fetchPage(address, "inside");
    if (place === "panel") {
      const panel = document.querySelector("[data-beside]");
      put(panel, shown, answer.url);
      panel.hidden = false;
      panel.parentElement.classList.add("beside");
      const head = document.querySelector("[data-sticky] > body > header"); // it would lie over what stays below it
      panel.parentElement.style.setProperty("--head", `${head ? head.offsetHeight : 0}px`);
      return;
    }
    document.querySelector("dialog[data-place]")?.remove();
    const dialog = document.getElementById(`in-${place}`).content.querySelector("dialog").cloneNode(true);
    dialog.dataset.place = place;
    document.body.append(dialog);
    put(dialog, shown, answer.url);
    open(dialog);
  };
  const open = (dialog) => {
    dialog.setAttribute("aria-modal", "true");
    dialog.showModal();
  };
  const send = async (holder, form, submitter) => {
    const { answer, shown } = await fetchPage(addressOf(form), "inside", sending(form, submitter));
    if (answer.redirected) openPage(answer.url);
    else put(holder, shown, answer.url);
  };

  // Endless lists: the rows of the next page come under those that are there.
  const more = async (link) => {
    if (link.dataset.more === "fetching") return;
    link.dataset.more = "fetching";
    const { shown } = await fetchPage(link.href, "inside");
    const rows = document.querySelector("[data-rows]");
    if (!rows || !link.isConnected) return;
    rows.append(...shown.querySelector("[data-rows]").childNodes);
    const next = shown.querySelector("[data-more]");
    if (next) link.replaceWith(next);
    else link.remove();
    drawn(rows);
  };
  const reach = () => {
    const link = document.querySelector("[data-more][data-scroll]");
    if (link && link.getBoundingClientRect().top < innerHeight) more(link);
  };

  const choose = (tab) => {
    const list = tab.closest("[role=tablist]");
    const active = (list.dataset.active || "").split(" ").filter(Boolean);
    for (const one of list.querySelectorAll("[role=tab]")) {
      const chosen = one === tab;
      one.setAttribute("aria-selected", String(chosen));
      for (const name of active) one.classList.toggle(name, chosen);
      const panel = document.getElementById(one.getAttribute("aria-controls"));
      if (panel) panel.hidden = !chosen;
      if (panel) for (const name of active) panel.classList.toggle(name, chosen);
    }
  };

  // The navigation of a narrow window, which its button opens and closes.
  const unfold = (button) => {
    button.setAttribute("aria-expanded", String(button.getAttribute("aria-expanded") !== "true"));
  };

  // Lists whose rows a double click opens: one click marks a row.
  const mark = (link) => {
    for (const row of document.querySelectorAll("[data-marked]")) delete row.dataset.marked;
    link.closest("tr, li").dataset.marked = "";
  };

  const isPlain = (event) =>
    event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  document.addEventListener("click", (event) => {
    const on = (selector) => event.target.closest(selector);
    for (const menu of document.querySelectorAll("[data-context]")) menu.hidden = true;
    for (const menu of document.querySelectorAll("details[data-menu][open]"))
      if (!menu.contains(event.target) || on("a, button")) menu.open = false;
    if (on("details[data-menu=hover] > summary")) {
      event.preventDefault();
      on("details").open = true;
    }
    if (on("[role=tab]")) choose(on("[role=tab]"));
    if (on("[data-links]")) unfold(on("[data-links]"));
    if (on("[data-dismiss]")) on(on("[data-dismiss]").dataset.dismiss).remove();
    const link = on("a[href]");
    if (link && "twice" in link.dataset && event.detail === 1 && isPlain(event)) {
      mark(link);
      event.preventDefault();
    }
    if (event.defaultPrevented || !link || link.target || !isPlain(event) || link.origin !== location.origin) return;
    const holder = on("dialog[data-place]");
    const place = link.dataset.place || on("[data-rows][data-place]")?.dataset.place;
    if (holder && "leave" in link.dataset) holder.remove();
    else if ("more" in link.dataset) more(link);
    else if (place && (place !== "panel" || !on("[data-beside]"))) openIn(place, link.href);
    else if (draws()) show(link.href);
    else return;
    event.preventDefault();
  });
  for (const [name, opens] of [["mouseover", true], ["mouseout", false]])
    document.addEventListener(name, (event) => {
      const menu = event.target.closest("details[data-menu=hover]");
      if (menu && !menu.contains(event.relatedTarget)) menu.open = opens;
    });

  // The menu of a row's actions, which the right button opens beside the pointer.
  document.addEventListener("contextmenu", (event) => {
    const menu = event.target.closest("h1")?.parentElement.querySelector("[data-context]");
    if (!menu) return;
    event.preventDefault();
    menu.hidden = false;
    menu.style.left = `${Math.max(4, Math.min(event.clientX, innerWidth - menu.offsetWidth - 4))}px`;
    menu.style.top = `${Math.max(4, Math.min(event.clientY, innerHeight - menu.offsetHeight - 4))}px`;
  });

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented) return;
    const holder = form.closest("dialog[data-place]");
    const isPost = form.method === "post";
    if (holder && isPost) send(holder, form, event.submitter);
    else if (draws() && isPost)
      show(addressOf(form), { options: sending(form, event.submitter) });
    else if (draws()) {
      const address = new URL(addressOf(form));
      address.search = new URLSearchParams(new FormData(form, event.submitter));
      show(address.href);
    } else return;
    event.preventDefault();
  });

  document.addEventListener("scroll", reach, { capture: true, passive: true });
  // The browser would scroll to where it was before the page is drawn, or after it, as it happens.
  if (draws()) history.scrollRestoration = "manual";
  addEventListener("popstate", () => {
    if (draws()) show(location.href, { push: false });
  });
  document.addEventListener("world:drawn", (event) => {
    for (const dialog of event.target.querySelectorAll("dialog[data-now]:not([open])")) open(dialog);
    for (const late of event.target.querySelectorAll("[data-late]"))
      setTimeout(() => {
        const holder = late.parentElement;
        if (!holder) return;
        late.replaceWith(late.querySelector("template").content);
        drawn(holder);
      }, Number(late.dataset.late));
    reach();
  });
  document.addEventListener("cancel", (event) => {
    if ("now" in event.target.dataset) event.preventDefault();
  }, { capture: true });

  document.addEventListener("DOMContentLoaded", () => {
    if ("shell" in document.documentElement.dataset) show(location.href, { push: false });
    else drawn(document.body);
  });
})();
