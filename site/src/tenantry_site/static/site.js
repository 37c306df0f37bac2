// What the frame of a page does beyond its HTML: the mode, the version, where one is on the page, and places kept.
// Everything is readable and reachable without it.
(function () {
  "use strict";

  const root = document.documentElement;
  const $ = (selector, within = document) => within.querySelector(selector);
  const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];

  function keep(storage, key, value) {
    try {
      if (value === null) storage.removeItem(key);
      else storage.setItem(key, value);
    } catch {
      // no storage: the choice holds for this page
    }
  }

  function kept(storage, key) {
    try {
      return storage.getItem(key);
    } catch {
      return null;
    }
  }

  // The mode. A choice that equals what the page would show anyway is forgotten, so that it follows the system again.
  const system = matchMedia("(prefers-color-scheme: dark)");
  const toggle = $(".mode-toggle");
  const standard = () => root.dataset.defaultMode || (system.matches ? "dark" : "light");
  const shown = () => root.dataset.mode || (system.matches ? "dark" : "light");
  const tell = () => toggle.setAttribute("aria-pressed", String(shown() === "dark"));

  if (toggle) {
    toggle.addEventListener("click", () => {
      const mode = shown() === "dark" ? "light" : "dark";
      const plain = mode === standard();
      keep(localStorage, "docs-mode", plain ? null : mode);
      if (plain && !root.dataset.defaultMode) delete root.dataset.mode;
      else root.dataset.mode = mode;
      tell();
    });
    system.addEventListener("change", tell);
    window.addEventListener("storage", (event) => {
      if (event.key !== "docs-mode") return;
      const mode = event.newValue || root.dataset.defaultMode;
      if (mode) root.dataset.mode = mode;
      else delete root.dataset.mode;
      tell();
    });
    tell();
  }

  // The version. To open a page that some versions only have is to choose among those.
  const chooser = $("details.versions");
  const versionKey = `docs-version:${root.dataset.site}`;

  function choose(version) {
    root.dataset.version = version;
    keep(localStorage, versionKey, version);
    for (const name of $$("[data-version-name]", chooser)) name.hidden = name.dataset.versionName !== version;
    for (const link of $$("[data-choose]", chooser)) {
      if (link.dataset.choose === version) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  if (chooser) {
    const every = $$("[data-choose]", chooser).length === root.dataset.versions.split(" ").length;
    if (!every || kept(localStorage, versionKey) !== null) choose(root.dataset.version);
    chooser.addEventListener("click", (event) => {
      const link = event.target.closest("[data-choose]");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      keep(localStorage, versionKey, link.dataset.choose);
      if (!("stays" in link.dataset)) return;
      event.preventDefault();
      choose(link.dataset.choose);
      chooser.open = false;
      $("summary", chooser).focus();
    });
  }

  // What opens over the page closes with Escape or a click beside it.
  const menu = $("details.menu");
  for (const each of [chooser, menu].filter(Boolean)) {
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !each.open) return;
      each.open = false;
      $("summary", each).focus();
    });
  }
  document.addEventListener("click", (event) => {
    if (chooser && chooser.open && !chooser.contains(event.target)) chooser.open = false;
  });

  // The sidebar scrolls by itself, and is where it was on the next page of its part.
  const sidebar = $(".sidebar");
  if (sidebar) {
    // A group that a reader opened is open on the next pages too.
    const opened = new Set((kept(sessionStorage, "docs-groups") || "").split("|"));
    for (const group of $$("[data-group]", sidebar)) {
      const name = `${sidebar.dataset.scope} ${group.dataset.group}`;
      if (opened.has(name)) group.open = true;
      $("summary", group).addEventListener("click", () => {
        if (group.open) opened.delete(name);
        else opened.add(name);
        keep(sessionStorage, "docs-groups", [...opened].join("|"));
      });
    }

    const key = "docs-sidebar";
    const [scope, top] = (kept(sessionStorage, key) || "").split("|");
    if (scope === sidebar.dataset.scope) sidebar.scrollTop = Number(top);
    const current = $("[aria-current=page]", sidebar);
    if (current && sidebar.scrollHeight > sidebar.clientHeight) {
      const box = sidebar.getBoundingClientRect();
      const place = current.getBoundingClientRect();
      if (place.top < box.top || place.bottom > box.bottom) {
        sidebar.scrollTop += place.top - box.top - box.height / 3;
      }
    }
    window.addEventListener("pagehide", () => {
      keep(sessionStorage, key, `${sidebar.dataset.scope}|${Math.round(sidebar.scrollTop)}`);
    });
  }

  // Where one is on the page: the last heading above a third of the window, or the last of all at the page's end.
  const contents = $(".contents");
  if (contents) {
    const links = $$("a", contents);
    const headings = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
    let marked = null;
    let waiting = false;

    const look = () => {
      waiting = false;
      const end = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
      const passed = headings.findLastIndex((heading) => heading && heading.getBoundingClientRect().top < innerHeight / 3);
      const link = links[end && scrollY > 0 ? links.length - 1 : passed] || null;
      if (link === marked) return;
      if (marked) marked.removeAttribute("aria-current");
      if (link) link.setAttribute("aria-current", "true");
      marked = link;
    };
    const soon = () => {
      if (!waiting) requestAnimationFrame(look);
      waiting = true;
    };
    document.addEventListener("scroll", soon, { passive: true });
    window.addEventListener("resize", soon);
    look();

    const opener = $("details.contents-toggle");
    contents.addEventListener("click", (event) => {
      if (event.target.closest("a") && opener) opener.open = false;
    });
  }

  // The stars of a repository, only where the site lets the code host be asked. Without an answer the link stays plain.
  const repository = $("[data-repository-facts]");
  if (repository) {
    fetch(`https://api.github.com/repos/${repository.dataset.repositoryFacts}`, { credentials: "omit" })
      .then((answer) => (answer.ok ? answer.json() : {}))
      .then(({ stargazers_count: count }) => {
        if (!Number.isInteger(count)) return;
        const stars = $(".stars", repository);
        stars.textContent = new Intl.NumberFormat(root.lang, { notation: "compact" }).format(count);
        stars.setAttribute("aria-label", `${count} stars`);
      })
      .catch(() => {});
  }
})();
