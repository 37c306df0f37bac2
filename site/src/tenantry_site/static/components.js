// The components of a page: tabs, links into what is closed, copy buttons, tooltips, print.
(() => {
  "use strict";

  const groups = [];
  const HIDDEN = "onbeforematch" in document.body ? "until-found" : "";

  function chosen() {
    try {
      const found = JSON.parse(sessionStorage.getItem("docs-tabs") || "[]");
      return Array.isArray(found) ? found : [];
    } catch {
      return [];
    }
  }

  function remember(name) {
    const names = [name, ...chosen().filter((each) => each !== name)].slice(0, 20);
    try {
      sessionStorage.setItem("docs-tabs", JSON.stringify(names));
    } catch {
      // no storage
    }
  }

  // --- tabs ---

  function show(group, index) {
    group.links.forEach((link, at) => {
      link.setAttribute("aria-selected", at === index);
      link.tabIndex = at === index ? 0 : -1;
      if (at === index) group.panels[at].removeAttribute("hidden");
      else group.panels[at].setAttribute("hidden", HIDDEN);
    });
  }

  // All groups that have what a reader chose follow; what was clicked stays where it is on the screen.
  function choose(group, index) {
    const name = group.panels[index].dataset.tab;
    const before = group.list.getBoundingClientRect().top;
    show(group, index);
    for (const other of groups) {
      const same = other === group ? -1 : other.panels.findIndex((panel) => panel.dataset.tab === name);
      if (same >= 0) show(other, same);
    }
    remember(name);
    scrollBy(0, group.list.getBoundingClientRect().top - before);
  }

  function onKey(group, event) {
    const last = group.links.length - 1;
    const at = group.links.indexOf(event.currentTarget);
    const step = getComputedStyle(group.list).direction === "rtl" ? -1 : 1;
    const moves = { ArrowLeft: at - step, ArrowRight: at + step, Home: 0, End: last, " ": at };
    if (!(event.key in moves) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const to = (moves[event.key] + last + 1) % (last + 1);
    choose(group, to);
    group.links[to].focus();
  }

  function makeTabs(element) {
    const list = element.querySelector(":scope > .tab-list");
    const panels = [...element.querySelectorAll(":scope > .tab")];
    const group = { list, links: [...list.children], panels };
    list.setAttribute("role", "tablist");
    group.links.forEach((link, at) => {
      const panel = panels[at];
      link.id = `${panel.id}-tab`;
      link.setAttribute("role", "tab");
      link.setAttribute("aria-controls", panel.id);
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", link.id);
      panel.tabIndex = 0;
      panel.addEventListener("beforematch", () => choose(group, at));
      link.addEventListener("keydown", (event) => onKey(group, event));
      link.addEventListener("click", (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        choose(group, at);
      });
    });
    const known = chosen().find((name) => panels.some((panel) => panel.dataset.tab === name));
    show(group, Math.max(0, panels.findIndex((panel) => panel.dataset.tab === known)));
    element.dataset.ready = "";
    groups.push(group);
  }

  // --- links ---

  function reveal() {
    let target = null; // :target comes too late
    let opened = false;
    try {
      target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch {}
    for (let each = target; each; each = each.parentElement) {
      const group = groups.find((one) => one.panels.includes(each));
      if (group && each.hasAttribute("hidden")) {
        show(group, group.panels.indexOf(each));
        opened = true;
      } else if (each.localName === "details" && !each.open) {
        each.open = true;
        opened = true;
      }
    }
    if (opened) target.scrollIntoView();
  }

  // --- copies ---

  const said = document.createElement("p");

  async function copied(text) {
    if (navigator.clipboard) return navigator.clipboard.writeText(text); // not on http
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "visually-hidden";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) throw new Error();
  }

  async function onCopy(button) {
    const code = button.closest(".code")?.querySelector("pre");
    if (!code) return;
    const words = (button.dataset.words ??= button.textContent);
    let result = "Copied";
    try {
      await copied(code.textContent.replace(/\n$/, ""));
    } catch {
      result = "Not copied";
    }
    button.focus();
    button.textContent = said.textContent = result;
    clearTimeout(button.waiting);
    button.waiting = setTimeout(() => {
      button.textContent = words;
      said.textContent = "";
    }, 2000);
  }

  // --- print ---

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("main details:not([open])")];
    for (const each of closed) each.open = true;
  });
  addEventListener("afterprint", () => {
    for (const each of closed) each.open = false;
  });

  document.documentElement.classList.add("js");
  document.querySelectorAll("[data-tabs]").forEach(makeTabs);
  document.querySelectorAll("[data-copy]").forEach((button) => (button.hidden = false));
  said.className = "visually-hidden";
  said.setAttribute("aria-live", "polite");
  document.body.append(said);
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("[data-copy]");
    if (button) onCopy(button);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const each of document.querySelectorAll(".tooltip:is(:hover, :focus)")) {
      each.classList.add("dismissed");
      for (const end of ["mouseleave", "blur"]) {
        each.addEventListener(end, () => each.classList.remove("dismissed"), { once: true });
      }
    }
  });
  addEventListener("hashchange", reveal);
  reveal();
})();
