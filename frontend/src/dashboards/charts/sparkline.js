// A small line without axes, which shows the history of a key figure.

import { number } from "../numbers.js";
import { svg } from "../dom.js";
import { runsOf, withGaps } from "./buckets.js";
import { dimension } from "./dimension.js";
import { linePath } from "./paths.js";
import { linear } from "./scales.js";

const SIZE = { width: 120, height: 32 };
const INSET = 3;
const isThere = ({ y }) => y !== null && !Number.isNaN(y);

/**
 * @param {import("./rows.js").Rows} rows the number over time
 * @param {string} name the column of the number
 * @param {import("../values.js").Formats} formats
 * @param {import("./buckets.js").When} when
 * @returns {SVGElement | null} null if there is nothing to draw
 */
export function drawSparkline(rows, name, formats, when) {
  const along = rows.columns.find((column) => column.name !== name)?.name;
  const amounts = rows.values(name).map(number);
  const by = dimension(rows, along, formats, when);
  const given = amounts.map((amount, row) => ({ x: by.positions[row], y: amount })).filter(({ x }) => !Number.isNaN(x));
  const { buckets } = by;
  const points = withGaps(given.sort((a, b) => a.x - b.x), buckets);
  const known = points.filter(isThere);
  if (known.length < 2) return null;
  const heights = known.map(({ y }) => y);
  const x = linear([points[0].x, points.at(-1).x], [INSET, SIZE.width - INSET]);
  const y = linear([heights.reduce((a, b) => Math.min(a, b)), heights.reduce((a, b) => Math.max(a, b))], [SIZE.height - INSET, INSET]);
  const way = { isThere, x: (point) => x(point.x), digits: 1 };
  const height = (point) => y(point.y);
  const last = known.at(-1);
  const alone = points.filter((point, place) => isThere(point) && ![points[place - 1], points[place + 1]].some((next) => next && isThere(next)));
  const dots = [...new Set([...alone, last])].map((point) => svg("circle", { class: "dot", cx: x(point.x), cy: y(point.y), r: 2.5 }));
  return svg(
    "svg",
    { class: "sparkline series-0", viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, ...SIZE, "aria-hidden": "true" },
    ...runsOf(points, buckets).map(([kind, run]) => svg("path", { class: kind, d: linePath(run, { ...way, y: height }) })),
    ...dots,
  );
}
