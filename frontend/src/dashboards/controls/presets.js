// The names of relative ranges, such as "Last 30 days".

/** @param {string} name such as `last-30-days` */
export function presetLabel(name) {
  const text = name.replaceAll("-", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** @returns {string} a range in words */
export function rangeLabel(value, formats) {
  if (!value) return "Any time";
  if (value.preset) return presetLabel(value.preset);
  const day = (text) => formats.text(text, { format: text.includes("T") ? "datetime" : "date" });
  if (!value.start) return `Until ${day(value.end)}`;
  if (!value.end) return `From ${day(value.start)}`;
  if (value.start === value.end) return day(value.start);
  const isPart = value.end.startsWith(value.start);
  return isPart ? `${day(value.start)}, until ${formats.text(value.end, { format: "time" })}` : `${day(value.start)} – ${day(value.end)}`;
}
