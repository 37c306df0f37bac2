// The look of every chart: a Vega-Lite config that names the page's own CSS tokens.
//
// Colours are written as var(--…) into the SVG, so that a chart follows light, dark and print by itself. Only what Vega
// has to compute with (scales between colours, the width of text) is read as a value.

const CATEGORIES = 8;

function reader(element) {
  const style = getComputedStyle(element);
  return (name) => style.getPropertyValue(name).trim();
}

function ramp(read, name) {
  return ["low", "middle", "high"].map((step) => read(`--${name}-${step}`)).filter(Boolean);
}

export function theme(element) {
  const read = reader(element);
  const font = read("--font") || "system-ui, sans-serif";
  const small = { labelFont: font, labelFontSize: 12, labelColor: "var(--quiet)", labelFontWeight: 400 };
  const titles = { titleFont: font, titleFontSize: 12, titleColor: "var(--quiet)", titleFontWeight: 400 };
  return {
    background: null,
    font,
    padding: { left: 2, top: 6, right: 10, bottom: 8 }, // Vega's idea of a text's size leaves out what hangs below the line
    view: { stroke: null },
    axis: {
      ...small,
      ...titles,
      domain: false,
      ticks: false,
      labelPadding: 8,
      titlePadding: 8,
      gridColor: "var(--line)",
      gridWidth: 1,
      tickCount: 4,
    },
    axisX: { grid: false },
    axisBand: { grid: false },
    legend: { ...small, ...titles, orient: "top", symbolType: "square" },
    title: { font, color: "var(--text)", fontSize: 14, fontWeight: 600, anchor: "start" },
    bar: { color: "var(--accent)", cornerRadiusEnd: 2 },
    line: { color: "var(--accent)", strokeWidth: 2 },
    area: { color: "var(--accent)", opacity: 0.2 },
    point: { color: "var(--accent)", filled: true },
    rule: { color: "var(--quiet)" },
    text: { color: "var(--text)", font, fontSize: 12 },
    range: {
      category: Array.from({ length: CATEGORIES }, (_, index) => `var(--data-${index + 1})`),
      ramp: ramp(read, "magnitude"),
      heatmap: ramp(read, "magnitude"),
      diverging: ramp(read, "signed"),
    },
  };
}
