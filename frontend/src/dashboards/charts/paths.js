// SVG path data for the outlines of lines and areas.

/**
 * @typedef {object} Way
 * @property {(point: any) => boolean} isThere whether there is a value at the point; an outline ends before a missing value, and another
 *   one begins after it
 * @property {(point: any) => number} x
 * @property {number} digits after the point
 */

/** @param {Way & {y: (point: any) => number}} way @returns {string} a single point is visible as a dot if the ends of lines are round */
export function linePath(points, way) {
  return partsOf(points, way).map((part) => `M${written(part, way.y, way)}${part.length > 1 ? "" : "Z"}`).join("");
}

/** @param {Way & {y0: (point: any) => number, y1: (point: any) => number}} way @returns {string} */
export function areaPath(points, way) {
  return partsOf(points, way).map((part) => `M${written(part, way.y1, way)}L${written(part.reverse(), way.y0, way)}Z`).join("");
}

function partsOf(points, { isThere }) {
  const parts = [[]];
  for (const point of points) isThere(point) ? parts.at(-1).push(point) : parts.push([]);
  return parts.filter((part) => part.length);
}

function written(points, y, { x, digits }) {
  const size = 10 ** digits;
  return points.map((point) => `${Math.round(x(point) * size) / size},${Math.round(y(point) * size) / size}`).join("L");
}

export function round(value, digits) {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
