// The layout of panels: rows of twelve columns, or of equal parts if the panels cannot share twelve columns evenly.

import { html } from "./dom.js";

const COLUMNS = 12;

/**
 * @param {{kind: string, width: number}[]} panels the panels of a row
 * @param {Element[]} elements
 */
export function rowOf(panels, elements) {
  const taken = panels.reduce((sum, { width }) => sum + (width || 0), 0);
  const open = panels.filter(({ width }) => !width).length;
  const share = open ? (COLUMNS - taken) / open : 0;
  const heading = panels.every(({ kind }) => kind === "heading");
  const donut = panels.some(({ kind }) => kind === "donut") ? " row-donut" : ""; // with :has, every mark would be styled again
  const row = html("div", { class: heading ? "row row-heading" : `row row-${panels.length}${Number.isInteger(share) ? "" : " row-even"}${donut}` });
  panels.forEach((panel, place) => {
    elements[place].classList.add(`span-${panel.width || Math.max(1, Math.floor(share))}`);
    row.append(elements[place]);
  });
  return row;
}

/**
 * The places that the server has drawn before the script was loaded, one for each panel that every group sees.
 * @param {Element} root
 * @returns {{id: string, kind: string, width: number, element: Element}[]}
 */
export function skeletonPanels(root) {
  const rows = [...root.querySelectorAll(".skeleton > div")];
  return rows.flatMap((row) => {
    const boxes = [...row.children];
    const panels = boxes.map((element) => ({ id: element.dataset.id, kind: element.dataset.kind, width: Number(element.dataset.width), element }));
    row.replaceWith(rowOf(panels, boxes));
    return panels;
  });
}
