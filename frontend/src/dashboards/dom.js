// Makes elements without parsing HTML from strings. The page's policy (trusted types) forbids innerHTML.

const SVG = "http://www.w3.org/2000/svg";

/**
 * @param {string} tag
 * @param {Record<string, any>} [attributes] a function becomes a listener; true becomes an empty attribute; null, undefined and false are
 *   omitted
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {HTMLElement}
 */
export function html(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/**
 * The same for SVG.
 * @returns {SVGElement}
 */
export function svg(tag, attributes, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes = {}, children) {
  for (const name in attributes) {
    const value = attributes[name];
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const ICONS = {
  menu: "M3 8h.01M8 8h.01M13 8h.01",
  down: "M4 6l4 4 4-4",
  close: "M4 4l8 8M12 4l-8 8",
  rise: "M8 13V3M4 7l4-4 4 4",
  fall: "M8 3v10M4 9l4 4 4-4",
  same: "M3 8h10",
  back: "M13 8H3M7 4L3 8l4 4",
  check: "M3 8.5l3.5 3.5L13 4.5",
};

/** A small decorative picture in the colour of the text. Screen readers ignore it. */
export function icon(name) {
  return svg("svg", { class: `icon icon-${name}`, viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));
}

/** Shows a short form. Screen readers read the whole text, and the pointer shows it as a tooltip. */
export function writeShort(element, short, whole) {
  element.title = whole;
  element.replaceChildren(html("span", { "aria-hidden": "true" }, short), html("span", { class: "visually-hidden" }, whole));
}

let made = 0;

/** An id that no other element of the page has. */
export function freshId(what) {
  made += 1;
  return `${what}-${made}`;
}

/** Returns a function that runs `run` once it has not been called for `delay` milliseconds. */
export function settled(run, delay) {
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...values), delay);
  };
}
