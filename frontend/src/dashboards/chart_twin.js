// The twin of a chart: its columns are written as the chart has them, and times that are cut off say so.

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
    // A weekday of a week that is not over may be: of a heat map, where the other column has its name.
    const days = (row) => (view.kind === "heatmap" ? daysOf(week.get(found[1 - place]?.values[row])) : undefined);
    ways[name] = { ...rows.way(formats, [name], { format, along: true }), cut: (row) => buckets?.cut(positions[row], days(row)) };
  });
  return twinOf(data, ways, formats, title);
}
