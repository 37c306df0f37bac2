// On paper: the charts are drawn for its width. The host of a frame is told beforehand how tall the page is there, for
// nothing can be asked while it prints.

import { html, settled } from "./dom.js";

/** CSS pixels: the steps of layout.css, and what A4 and Letter leave beside a host's own margins. */
const WIDTHS = [401, 681, 761, 1001];
/** Of A4 in browsers that lay out paper without telling the page (Firefox). */
const PAPER = 700;
const QUIET = 1000;
const SMALLEST = 0.5;
/** There a frame is as tall as on the screen until all of it is laid out. */
const IN_FIREFOX = CSS.supports("-moz-appearance: none");
const MEDIA = { print: "all", screen: "not all" };

/** @param {{root: HTMLElement, session: import("./embed/session.js").Session, dashboard: import("./dashboard.js").Dashboard}} page */
export function onPaper(page) {
  const { root, session } = page;
  let told = false;
  const draw = () => page.dashboard.draw();
  const date = () => page.dashboard.controls && write(page.dashboard);
  addEventListener("beforeprint", () => {
    date();
    at(root, Math.min(PAPER, root.clientWidth), draw);
  });
  addEventListener("afterprint", draw);
  matchMedia("print").addEventListener("change", ({ matches }) => {
    root.style.zoom = "";
    draw();
    const { height } = root.getBoundingClientRect();
    if (!matches || !isFramed() || height <= innerHeight || (told && IN_FIREFOX)) return;
    root.style.zoom = Math.max(SMALLEST, innerHeight / height); // rather small than cut
    draw();
  });
  if (isFramed()) new ResizeObserver(settled(() => (date(), (told = report(root, session))), QUIET)).observe(root);
}

/** What holds, and when it is printed: there are no fields on paper. */
function write({ element, filters, controls, formats }) {
  const names = new Set([...filters.controls.keys(), ...Object.keys(filters.chosen)]);
  const held = [...names].map((name) => `${controls.label(name)}: ${valuesOf(name, filters, controls)}`);
  const line = element.querySelector(".on-paper") ?? html("p", { class: "on-paper" });
  line.textContent = [...held, formats.text(new Date().toISOString(), { format: "datetime" })].join(" · ");
  controls.chips.after(line);
}

function valuesOf(name, filters, controls) {
  const values = [filters.value(name) ?? []].flat().filter((one) => one !== "");
  return values.map((one) => controls.text(name, one)).join(", ") || (filters.controls.get(name)?.kind === "range" ? "Any time" : "All");
}

/** Whether the host knows how tall the page is on paper. */
function report(root, session) {
  if (!root.clientWidth || root.style.minHeight) return false; // hidden; or something is open, which will close
  const rules = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules]).filter(({ media }) => MEDIA[media?.mediaText]);
  const before = rules.map(({ media }) => media.mediaText);
  for (const { media } of rules) media.mediaText = MEDIA[media.mediaText];
  session.send("paper", Object.fromEntries(WIDTHS.map((width) => [width, at(root, width, () => Math.ceil(root.getBoundingClientRect().height))])));
  rules.forEach(({ media }, place) => (media.mediaText = before[place]));
  return session.isHosted;
}

function isFramed() {
  return window.parent !== window;
}

/** What `run` gives while the page is so wide. */
function at(root, width, run) {
  root.style.width = `${width}px`;
  const result = run();
  root.style.width = "";
  return result;
}
