// Makes room for elements that open over the page. The page becomes tall enough for them, so that a frame grows with it, or scrolls if its
// height is fixed. The editor fills its window and does not need this.

const OPEN = ".popover:not([hidden]), .tip:not([hidden]), .dialog";
const GAP = 24; // the extent of the shadow
/** Milliseconds after which a host has usually made its frame as tall as the page. */
const GROWN = 100;

const watched = new ResizeObserver(makeRoom);

/**
 * Makes room for `element` whenever it is visible.
 * @param {HTMLElement} element
 * @returns {() => void} a function that ends this
 */
export function needsRoom(element) {
  watched.observe(element);
  return () => {
    watched.unobserve(element);
    if (root()?.style.minHeight) makeRoom();
  };
}

/** Scrolls an element that has just opened into view, after the frame has grown. */
export function bringIntoView(element) {
  setTimeout(() => element.scrollIntoView({ block: "nearest", inline: "nearest" }), GROWN);
}

function makeRoom() {
  if (!root()) return;
  const { top } = root().getBoundingClientRect();
  const ends = [...document.querySelectorAll(OPEN)].map((each) => each.getBoundingClientRect().bottom);
  root().style.minHeight = ends.length ? `${Math.ceil(Math.max(...ends) - top) + GAP}px` : "";
}

function root() {
  return document.getElementById("dashboard");
}
