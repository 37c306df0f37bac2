// How wide a text is. Letters are not equally wide, so each text is measured, once.

let context;
const widths = new Map();

/** @returns {number} CSS pixels, at the size of a chart's labels */
export function textWidth(text) {
  let width = widths.get(text);
  if (width === undefined) {
    context ??= prepared();
    width = context.measureText(text).width;
    if (widths.size > 5000) widths.clear();
    widths.set(text, width);
  }
  return width;
}

function prepared() {
  const made = document.createElement("canvas").getContext("2d");
  const style = getComputedStyle(document.documentElement);
  const size = parseFloat(style.getPropertyValue("--size-1")) * parseFloat(style.fontSize);
  made.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  return made;
}

/** The text, or as much of it as fits, with an ellipsis. */
export function shortened(text, most) {
  if (textWidth(text) <= most) return text;
  const letters = [...text];
  let end = letters.length;
  while (end > 1 && textWidth(`${letters.slice(0, end).join("")}…`) > most) end -= 1;
  return `${letters.slice(0, end).join("").trimEnd()}…`;
}

/** All of these texts, shortened; those that would look alike keep their ends, too, or begin where they differ. */
export function shortenedAll(texts, most) {
  let cut = texts.map((text) => shortened(text, most));
  for (const way of [withEnd, fromDifference]) {
    const before = cut;
    cut = before.map((each, place) => (isAlike(before, each) && each !== texts[place] ? way(texts[place], most, texts) : each));
  }
  return cut;
}

const isAlike = (all, each) => all.indexOf(each) !== all.lastIndexOf(each);

const reversed = (text) => [...text].reverse().join("");

function withEnd(text, most) {
  return shortened(text, most / 2) + reversed(shortened(reversed(text), most / 2)).slice(1);
}

/** Without what another text begins with, too. */
function fromDifference(text, most, others) {
  const letters = [...text];
  const start = others.reduce((found, other) => {
    const place = [...other].findIndex((letter, at) => letter !== letters[at]);
    return place < letters.length ? Math.max(found, place) : found;
  }, 0);
  return `…${shortened(letters.slice(start).join(""), most - textWidth("…"))}`;
}
