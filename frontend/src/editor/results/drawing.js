// The bundle that draws a quick chart, with the drawing code of dashboards.

import { SeriesColors } from "../../dashboards/charts/colors.js";
import { ChartView } from "../../dashboards/chart_view.js";
import { applyTheme } from "../../dashboards/theme.js";

/**
 * @param {any} view the view of a panel: kind, measures, by
 * @param {import("../../dashboards/values.js").Formats} formats
 * @returns {ChartView}
 */
export function chartOf(view, formats) {
  const look = () => colors.see(applyTheme(colors.own).modes);
  const colors = new SeriesColors({ rows: [[{ view }]], controls: [] }, look, () => {});
  look();
  return new ChartView({ view }, { title: "Chart", formats, colors, announce: () => {}, say: () => {}, choose: () => {}, zoom: () => false, isChosen: () => false });
}
