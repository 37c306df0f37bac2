// Makes a picture of a chart: a PNG of the drawing with its styles. The page's Content-Security-Policy allows this image.

import { svg } from "../dom.js";
import { hasLegend } from "./legend.js";
import { textWidth } from "./measure.js";

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "unicode-bidi"];
const HEAD = 40;
const LEGEND = 24;

/**
 * @param {SVGElement} drawing on the page
 * @param {{title: string, series: {name: string, color: number, hidden: boolean}[]}} about
 * @returns {Promise<Blob>}
 */
export async function picture(drawing, { title, series }) {
  const { width, height } = drawing.viewBox.baseVal;
  const shown = hasLegend(series) ? series.filter(({ hidden }) => !hidden) : [];
  const top = HEAD + (shown.length ? LEGEND : 0);
  const wide = Math.max(width, 320) + 32;
  const root = svg("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${wide} ${height + top + 16}`, width: wide, height: height + top + 16 });
  root.append(ground(wide, height + top + 16), heading(title, drawing), ...names(shown, drawing), copied(drawing, top));
  return painted(root, Math.max(2, devicePixelRatio));
}

function copied(drawing, top) {
  const copy = drawing.cloneNode(true);
  copy.querySelector(".overlay")?.remove();
  const from = [...drawing.querySelectorAll("*")].filter((node) => !node.closest(".overlay"));
  [...copy.querySelectorAll("*")].forEach((node, place) => {
    const style = getComputedStyle(from[place]);
    for (const name of STYLES) node.setAttribute(name, style.getPropertyValue(name));
    node.removeAttribute("style");
  });
  copy.setAttribute("x", 16);
  copy.setAttribute("y", top);
  return copy;
}

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function ground(width, height) {
  return svg("rect", { width, height, fill: color("--page") });
}

function letters(drawing, size, weight) {
  const { fontFamily } = getComputedStyle(drawing);
  return { "font-family": fontFamily, "font-size": size, "font-weight": weight, fill: color("--text") };
}

function heading(title, drawing) {
  return svg("text", { x: 16, y: 26, ...letters(drawing, 14, 600) }, title);
}

function names(series, drawing) {
  let x = 16;
  return series.flatMap(({ name, color: number }) => {
    const fill = getComputedStyle(drawing.querySelector(`.series-${number}`) ?? drawing).getPropertyValue("--series") || color("--accent");
    const swatch = svg("rect", { x, y: HEAD, width: 10, height: 10, rx: 2, fill });
    const text = svg("text", { x: x + 16, y: HEAD + 9.5, ...letters(drawing, 12, 400) }, name);
    x += textWidth(name) + 36;
    return [swatch, text];
  });
}

async function painted(root, scale) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(root))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(root.getAttribute("width") * scale);
  canvas.height = Math.round(root.getAttribute("height") * scale);
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.drawImage(image, 0, 0);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
