// Room for what opens over the page: the page is as tall as that needs, so that a frame grows with it, or scrolls where
// its height is fixed. The editor fills its window, and has no such element.

const OPEN = ".popover:not([hidden]), .tip:not([hidden]), .dialog";
const GAP = 24; // as far as the shadow reaches
/** Milliseconds in which a host has made its frame as tall as the page. */
const GROWN = 100;

const watched = new ResizeObserver(makeRoom);

/**
 * The page makes room for `element` whenever it is shown.
 * @param {HTMLElement} element
 * @returns {() => void} ends that
 */
export function needsRoom(element) {
  watched.observe(element);
  return () => {
    watched.unobserve(element);
    if (root()?.style.minHeight) makeRoom();
  };
}

/** Brings what has just opened into view, once the frame has grown. */
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
