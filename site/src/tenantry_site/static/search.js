// Search: opens with / and Ctrl-K or Cmd-K, looks into the site's own index (outputs/search_index.py), remembers nothing.
(() => {
  "use strict";
  const byId = (id) => document.getElementById(id);
  const dialog = byId("Site-search-dialog"), input = byId("Site-search-input"), list = byId("Site-search-results");
  if (!dialog || !dialog.showModal || !input || !list) return;

  const SHOWN = 8;
  const home = new URL(dialog.dataset.index, document.baseURI);

  // Words, cut as outputs/search_page.py cuts them. A name of code, or a word with hyphens, comes before its parts:
  // `whole` is how many follow.
  const PAIRED = "\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff"
    + "\\uac00-\\ud7af\\uf900-\\ufaff\\u{20000}-\\u{3ffff}";
  const RUN = `(?:(?![${PAIRED}])[\\p{L}\\p{N}\\u0900-\\u0963\\u0966-\\u0dff])+`;
  const JOINED = new RegExp(`[${PAIRED}]+|${RUN}(?:[_\\u2010-]${RUN})*`, "gu");
  const PARTS = new RegExp(RUN, "gu");
  const PAIR = new RegExp(`[${PAIRED}]`, "u");
  const ACCENTS = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]/g;
  const fold = (text) => text.normalize("NFKD").replace(ACCENTS, "").normalize("NFC");

  function words(text) {
    return (fold(text).match(JOINED) || []).flatMap((joined) => {
      const parts = joined.replace(/([a-z0-9])(?=[A-Z])/g, "$1_").match(PARTS);
      if (!parts) {
        const letters = [...joined];
        return letters.length < 2 ? [{ word: joined }] : letters.slice(1).map((letter, at) => ({ word: letters[at] + letter }));
      }
      const found = parts.map((part) => ({ word: [...part.toLowerCase()].slice(0, 24).join("") }));
      const whole = found.map((part) => part.word).join("");
      return parts.length > 1 && parts.length < 5 ? [{ word: whole, whole: found.length }, ...found] : found;
    });
  }

  // What a query asks for: its words, and two that follow one another as one. `covers`: which words it stands for.
  function terms(query) {
    let at = 0;
    const found = words(query).map((one) => {
      const covers = Array.from({ length: one.whole || 1 }, (_, next) => at + next);
      if (!one.whole) at++;
      return { ...one, covers };
    });
    const single = found.filter((one) => !one.whole);
    single.slice(1, 8).forEach((next, number) => {
      const word = single[number].word + next.word;
      if (word.length < 25 && !PAIR.test(word) && !found.some((one) => one.word === word))
        found.push({ word, whole: 2, covers: [number, number + 1] });
    });
    return found;
  }

  // The files of the index, each loaded once.
  const files = new Map();
  function load(name) {
    if (!files.has(name)) {
      const file = fetch(new URL(name, home), { cache: name === "index.json" ? "no-cache" : "default" }).then((answer) => {
        if (!answer.ok) throw new Error(answer.status);
        return name.endsWith("json") ? answer.json() : answer.text().then(lines);
      });
      file.catch(() => files.delete(name));
      files.set(name, file);
    }
    return files.get(name);
  }

  function lines(text) {
    let word = "";
    return text.split("\n").slice(0, -1).map((line) => {
      const end = line.search(/[ \t]/);
      word = [...word].slice(0, parseInt(line[0], 36)).join("") + line.slice(1, end);
      return { word, common: line[end] === "\t", postings: line.slice(end + 1) };
    });
  }

  function unpack(text) {
    const found = [];
    for (let at = 0, part = -1; at < text.length; ) {
      const code = text.charCodeAt(at++) - 33;
      let digit, factor = 1;
      part++;
      do {
        digit = text.charCodeAt(at++) - 33;
        part += digit * factor;
        factor *= 34;
      } while (digit > 59);
      found.push([part, code]);
    }
    return found;
  }

  // The words of the index from `low` to the last that begins with `prefix`, out of `most` files at most.
  async function range(index, low, prefix, most) {
    const names = index.words.filter(([first], at) => first <= prefix + "\uffff" && !(index.words[at + 1]?.[0] <= low));
    return (await Promise.all(names.slice(0, most).map(([, name]) => load(name)))).flat();
  }

  // 1: the same word; less for one that goes on, or is one letter shorter (a plural); 0: another.
  function nearness(typed, word) {
    if (word.startsWith(typed)) return word === typed ? 1 : 0.3 + (0.4 * typed.length) / word.length;
    return typed.length > 3 && typed.slice(0, -1) === word ? 0.7 : 0;
  }

  // One letter more, less or another, or two changed about.
  function mistyped(a, b) {
    let start = 0, left = a.length, right = b.length;
    while (start < Math.min(left, right) && a[start] === b[start]) start++;
    while (left > start && right > start && a[left - 1] === b[right - 1]) left--, right--;
    const [x, y] = [a.slice(start, left), b.slice(start, right)];
    return (x.length < 2 && y.length < 2) || (y.length === 2 && x === y[1] + y[0]);
  }

  async function near(index, { word, whole }) {
    const rate = (line, factor) => ({ ...line, factor, postings: factor && unpack(line.postings) });
    let found = (await range(index, word.length > 3 ? word.slice(0, -1) : word, word, 3))
      .map((line) => rate(line, whole ? whole * (line.word === word) : nearness(word, line.word)));
    if (!whole && word.length > 3 && !found.some((line) => line.factor)) {
      const start = word.slice(0, 2);
      found = (await range(index, start, start, 6)).map((line) => rate(line, mistyped(word, line.word) ? 0.4 : 0));
    }
    return found.filter((line) => line.factor);
  }

  // The parts of the site that have any of the words, the best first. A part without some of them counts for less: the
  // more, the rarer these are.
  function rank(index, typed, lists) {
    const parts = new Map();
    const single = typed.flatMap(({ whole }, at) => (whole ? [] : [at]));
    // What a word counts for when a part has it or not: nothing if the index does not list all parts that have it.
    const worth = lists.map((found, at) => {
      const best = new Map();
      for (const line of found) {
        const rare = rarity(index.count, line.common ? index.count / 4 : line.postings.length);
        for (const [part, code] of line.postings) {
          const score = line.factor * rare * index.levels[Math.floor(code / index.sections)];
          if (!(score <= best.get(part)?.score)) best.set(part, { score, section: code % index.sections });
        }
      }
      for (const [part, { score, section }] of best) {
        const known = parts.get(part) || { part, score: 0, covered: new Set(), sections: [] };
        known.score += score;
        typed[at].covers.forEach((word) => known.covered.add(single[word]));
        known.sections[section] = (known.sections[section] || 0) + score;
        parts.set(part, known);
      }
      return found.some((line) => line.common) ? 0 : rarity(index.count, best.size);
    });
    const all = typed.reduce((sum, { whole }, at) => (whole ? sum : sum + worth[at]), 0);
    for (const one of parts.values()) {
      const covered = [...one.covered].reduce((sum, at) => sum + worth[at], 0);
      one.score += Math.max(...Object.values(one.sections)); // words that meet under one heading
      if (all) one.score *= (0.1 + (0.9 * covered) / all) ** 2;
    }
    return [...parts.values()].sort((a, b) => b.score - a.score || a.part - b.part).slice(0, 2 * SHOWN);
  }

  const rarity = (count, having) => having && Math.log(1 + (count + 1) / (having + 0.5));

  // How much of a title and a query is the same: 1 for the same words.
  function likeness(title, typed) {
    const own = new Set(words(title).filter((one) => !one.whole).map((one) => one.word));
    const both = typed.filter((word) => own.has(word)).length;
    return both / (own.size + typed.length - both) || 0;
  }

  async function find(query) {
    const index = await load("index.json");
    const typed = terms(query);
    const lists = await Promise.all(typed.map((one) => near(index, one)));
    const known = new Set(lists.flat().map((line) => line.word));
    const single = [...new Set(typed.filter((one) => !one.whole).map((one) => one.word))];
    const found = await Promise.all(rank(index, typed, lists).map(async ({ part, score, sections }) => {
      const file = await load(index.parts[Math.floor(part / index.each)]);
      const [path, title, label, ...headings] = file[part % index.each];
      const heading = headings[sections.reduce((best, sum, at) => (sum > (sections[best] || 0) ? at : best), 0)];
      return { path, title, label, heading, score: score * (1 + likeness(title, single)) };
    }));
    return found.sort((a, b) => b.score - a.score).slice(0, SHOWN).map(({ path, title, label, heading }) => {
      const [text, id] = typeof heading === "string" ? [heading, slug(heading)] : heading;
      const file = "clean" in dialog.dataset ? path.replace(/(^|\/)index$/, "$1") : `${path}.html`;
      const url = new URL("../" + file.split("/").map(encodeURIComponent).join("/"), home);
      url.hash = id;
      return option(url, [title, text, label], known);
    });
  }

  // The id of a heading, as `slug` in markdown/page_context.py makes it.
  const slug = (title) => title && (title.toLowerCase().replace(/[()]/g, "").replace(/(?<=[\p{L}\p{N}_])'/gu, "’")
    .replace(/[^\p{L}\p{N}\p{M}_&/’\u3001-\u303f\uff01-\uff65]+/gu, "-").replace(/^-|-$/g, "") || "section");

  // Drawing: text nodes only.
  function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function marked(text, known) {
    return text.split(new RegExp(`([${PAIRED}]{2}|${RUN})`, "u")).map((piece) =>
      words(piece).some(({ word }) => known.has(word)) ? element("mark", {}, piece) : piece);
  }

  function option(url, [title, heading, label], known) {
    const made = element("a", { role: "option", href: url.href, tabindex: -1, "aria-selected": false, class: "search-result" });
    made.append(element("span", { class: "search-title" }, ...marked(title, known)));
    if (heading) made.append(" ", element("span", { class: "search-heading" }, ...marked(heading, known)));
    if (label) made.append(" ", element("span", { class: "search-label" }, label));
    return made;
  }

  const status = byId("Site-search-status") || dialog.appendChild(element("p", { id: "Site-search-status", role: "status" }));
  let asked = 0, active = -1;

  function activate(at) {
    const options = [...list.children];
    active = options.length ? (at + options.length) % options.length : -1;
    options.forEach((one, number) => {
      one.id = `Site-search-result-${number}`;
      one.setAttribute("aria-selected", number === active);
    });
    if (active < 0) return input.removeAttribute("aria-activedescendant");
    input.setAttribute("aria-activedescendant", options[active].id);
    options[active].scrollIntoView({ block: "nearest" });
  }

  function draw(options, words) {
    list.replaceChildren(...options);
    input.setAttribute("aria-expanded", options.length > 0);
    activate(options.length ? 0 : -1);
    status.textContent = words;
  }

  async function search() {
    const query = input.value.trim(), mine = ++asked;
    if (!query) return draw([], "");
    try {
      const found = await find(query);
      if (mine !== asked) return;
      draw(found, found.length ? (found.length === 1 ? "1 result" : `${found.length} results`) : `Nothing found for “${query}”.`);
    } catch {
      if (mine === asked) draw([], home.protocol === "file:"
        ? "Search works when the site is served, not when its pages are opened as files."
        : "The search index could not be loaded. Is the connection there? Type again to retry.");
    }
  }

  function open() {
    if (dialog.open) return;
    dialog.showModal();
    input.value = "";
    search();
    input.focus();
    load("index.json").catch(() => {});
  }

  input.addEventListener("input", search);
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "ArrowDown") activate(active + 1);
    else if (event.key === "ArrowUp") activate(active - 1);
    else if (event.key === "Enter") list.children[active]?.click();
    else if (event.key === "Escape") dialog.close(); // the field would empty itself first
    else return;
    event.preventDefault();
  });
  list.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.addEventListener("click", (event) => event.target.closest(".search-open") && open());
  document.addEventListener("keydown", (event) => {
    // The field keeps the focus for a moment after the dialog is closed.
    const typing = event.target.closest?.("input, textarea, select, [contenteditable]") && (event.target !== input || dialog.open);
    const slash = event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!slash && !((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k")) return;
    event.preventDefault();
    open();
  });
})();
