// A chart as a table with the same data. Columns are written as in the chart, and incomplete times are marked.

import { dimension } from "./charts/dimension.js";
import { Rows, whenOf } from "./charts/rows.js";
import { daysOf, weekdays } from "./charts/weekdays.js";
import { twinOf } from "./twin.js";

export function chartTwin(view, data, formats, title) {
  const rows = new Rows(data.columns, data.rows);
  const measures = [view[view.kind]].flat();
  const measured = rows.way(formats, measures, view);
  const ways = Object.fromEntries(measures.map((name) => [name, measured]));
  const names = [view.by, view.rows, view.color].filter((name) => rows.has(name));
  const found = names.map((name) => dimension(rows, name, formats, whenOf(data)));
  const week = weekdays(formats.locale);
  names.forEach((name, place) => {
    const { format, positions, buckets } = found[place];
    // In a heat map with a row of weeks and a row of weekdays, a weekday may be complete although its week is not over.
    const days = (row) => (view.kind === "heatmap" ? daysOf(week.get(found[1 - place]?.values[row])) : undefined);
    ways[name] = { ...rows.way(formats, [name], { format, along: true }), cut: (row) => buckets?.cut(positions[row], days(row)) };
  });
  return twinOf(data, ways, formats, title);
}
