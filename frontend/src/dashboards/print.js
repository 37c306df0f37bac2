// On paper: the charts are drawn for its width. The host of a frame is told beforehand how tall the page is there, for
// nothing can be asked while it prints.

import { settled } from "./dom.js";

/** CSS pixels: the steps of layout.css, within what A4 and Letter leave beside a host's own margins. */
const WIDTHS = [401, 761, 1001];
/** Of A4 in browsers that lay out paper without telling the page (Firefox). */
const PAPER = 700;
const QUIET = 1000;
const SMALLEST = 0.5;
const MEDIA = { print: "all", screen: "not all" };

/**
 * @param {HTMLElement} root
 * @param {import("./embed/session.js").Session} session
 * @param {{draw: () => void, date: () => void}} page `draw`: for the widths that panels have now; `date`: says when it is printed
 */
export function onPaper(root, session, page) {
  addEventListener("beforeprint", () => {
    page.date();
    at(root, Math.min(PAPER, root.clientWidth), page.draw);
  });
  addEventListener("afterprint", page.draw);
  matchMedia("print").addEventListener("change", ({ matches }) => {
    root.style.zoom = "";
    page.draw();
    const { height } = root.getBoundingClientRect();
    if (!matches || !isFramed() || height <= innerHeight) return;
    root.style.zoom = Math.max(SMALLEST, innerHeight / height); // rather small than cut
    page.draw();
  });
  if (isFramed()) new ResizeObserver(settled(() => report(root, session, page), QUIET)).observe(root);
}

function report(root, session, page) {
  if (!root.clientWidth || root.style.minHeight) return; // hidden; or something is open, which will close
  page.date();
  const rules = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules]).filter(({ media }) => MEDIA[media?.mediaText]);
  const before = rules.map(({ media }) => media.mediaText);
  for (const { media } of rules) media.mediaText = MEDIA[media.mediaText];
  session.send("paper", Object.fromEntries(WIDTHS.map((width) => [width, at(root, width, () => Math.ceil(root.getBoundingClientRect().height))])));
  rules.forEach(({ media }, place) => (media.mediaText = before[place]));
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
