// What the tooltips of these panels' charts say: of the first places and the last one, as the arrow keys read them.
({ most, panels }) =>
  panels.flatMap((id) => [...document.querySelectorAll(`.panel[data-panel="${id}"] .chart`)].map((chart) => {
    const tip = chart.querySelector(".tip");
    const press = (key) => chart.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    const text = (each) => each?.textContent ?? null;
    const lineOf = (line) => [text(line.querySelector(".tip-name")), text(line.querySelector(".tip-text"))];
    const found = [];
    const faults = [];
    const outer = chart.closest(".panel").getBoundingClientRect();
    const read = () => {
      if (!tip || tip.hidden) return;
      const box = tip.getBoundingClientRect();
      const title = text(tip.querySelector(".tip-title"));
      if (box.left < outer.left - 1 || box.right > outer.right + 1) faults.push(`tooltip beyond the panel: ${title}`);
      if (tip.scrollWidth > tip.clientWidth + 1) faults.push(`tooltip cut: ${title}`);
      found.push({ title, lines: [...tip.querySelectorAll(".tip-line")].map(lineOf) });
    };
    press("Home");
    read();
    for (let place = 1; place < most; place += 1) {
      const before = tip?.textContent;
      press("ArrowRight");
      if (tip?.textContent === before) break;
      read();
    }
    press("End");
    read();
    press("Escape");
    return { id, found, faults };
  }));
