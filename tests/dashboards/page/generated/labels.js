// Every text that each panel shows: where it lies, what it says, and what of it is cut or lies over another one.
() => {
  const APART = 1; // pixel of the empty edges of letters that may lie over one another
  const SOME = 24; // pixels, in which three letters have room
  const LABELS =
    "svg.plot text, .legend-item, .key > *, .chart-note, .figure-number, .figure-unit, .change > span, .panel-title, .unit, .count, .panel-empty";
  const PARTS = ".figure-value, .panel-body, .legend-item, .legend, .key, .chart-note, .change, .chart";
  const read = (each) => (each ? { text: each.querySelector("[aria-hidden]")?.textContent ?? each.textContent, whole: wholeOf(each) } : null);
  const wholeOf = (each) =>
    each.querySelector(".visually-hidden, title")?.textContent ?? (each.getAttribute("title") || each.closest("[title]")?.title || each.textContent);
  const boxOf = (each) => {
    const { left, top, right, bottom } = each.getBoundingClientRect();
    return { left, top, right, bottom };
  };
  const over = (one, other) =>
    one.left < other.right - APART && other.left < one.right - APART && one.top < other.bottom - APART && other.top < one.bottom - APART;
  const linesOf = (each) => [...each.getClientRects()]; // of what is broken over lines, one for each
  const labelled = (each) => ({ text: each.textContent, box: boxOf(each), lines: linesOf(each) });

  return [...document.querySelectorAll(".panel[data-panel]")].map((panel) => {
    const all = (what) => [...panel.querySelectorAll(what)];
    const outer = boxOf(panel);
    const labels = all(LABELS).map(labelled).filter(({ text, box }) => text.trim() && box.right > box.left);
    const bars = all("svg.plot .bar").map(boxOf);
    const faults = [];
    labels.forEach(({ text, box, lines }, place) => {
      if (box.left < outer.left - APART || box.right > outer.right + APART || box.bottom > outer.bottom + APART) faults.push(`beyond the panel: ${text}`);
      for (const other of labels.slice(place + 1)) if (over(box, other.box) && lines.some((line) => other.lines.some((each) => over(line, each)))) faults.push(`over one another: ${text} | ${other.text}`);
    });
    for (const { text, box } of all("svg.plot .label.value").map(labelled)) {
      if (bars.some((bar) => bar.right - bar.left > 2 * APART && over(box, bar))) faults.push(`over a bar: ${text}`);
    }
    for (const each of all(PARTS)) {
      if (each.scrollWidth > each.clientWidth + APART && getComputedStyle(each).display !== "inline") faults.push(`cut: ${each.className} ${each.textContent.slice(0, 60)}`);
    }
    for (const each of all(".legend-name")) {
      if (each.scrollWidth > each.clientWidth + APART && each.title !== each.textContent) faults.push(`cut without its whole: ${each.textContent}`);
      if (each.scrollWidth > each.clientWidth + APART && each.clientWidth < SOME) faults.push(`nothing left of a name: ${each.textContent}`);
    }
    const plot = panel.querySelector("svg.plot");
    if (plot && Math.abs(plot.getBoundingClientRect().width - plot.viewBox.baseVal.width) > APART) faults.push("the drawing is scaled");
    return {
      id: panel.dataset.panel,
      faults,
      figure: read(panel.querySelector(".figure-number")),
      change: (panel.querySelector(".change .visually-hidden") ?? panel.querySelector(".change"))?.textContent ?? null,
      total: read(panel.querySelector("svg.plot .total")),
      cells: all("tbody tr").map((row) => [...row.cells].map((cell) => ({ ...read(cell), hidden: cell.hidden }))),
      bottom: all("svg.plot .axis-bottom .label").map((each) => [Number(each.getAttribute("x")), each.textContent]),
      grid: all("svg.plot .axis-value .grid").map((each) => [Number(each.getAttribute("x1")), Number(each.getAttribute("x2"))])[0] ?? null,
      notes: all(".legend-item").map((each) => [...each.querySelectorAll(".legend-name, .legend-note")].map((part) => part.textContent)),
      key: all(".key").map((each) => [...each.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data)).flat(),
    };
  });
};
