// Prepares the page for paper: charts are drawn for the width of the paper. The host of a frame is told in advance how tall the printed
// page is, because it cannot ask the frame while it prints.

import { html, settled } from "./dom.js";

/** Widths in CSS pixels for which heights are reported: the steps of layout.css, and A4 and Letter without the margins of a host. */
const WIDTHS = [401, 681, 761, 1001];
/** The width of A4 in CSS pixels, for browsers that lay out paper without telling the page (Firefox). */
const PAPER = 700;
const QUIET = 1000;
const SMALLEST = 0.5;
/** In Firefox, a printed frame is as tall as on the screen until the whole frame is laid out. */
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
    root.style.zoom = Math.max(SMALLEST, innerHeight / height); // a page that is small is better than one that is cut
    draw();
  });
  if (isFramed()) new ResizeObserver(settled(() => (date(), (told = report(root, session))), QUIET)).observe(root);
}

/** Writes the current values and the time of printing, because paper shows no fields. */
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

/** Reports the heights on paper to the host. Returns whether a host is there. */
function report(root, session) {
  if (!root.clientWidth || root.style.minHeight) return false; // the page is hidden, or has opened something that will be closed
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

/** Returns the result of `run` while the page has this width. */
function at(root, width, run) {
  root.style.width = `${width}px`;
  const result = run();
  root.style.width = "";
  return result;
}
