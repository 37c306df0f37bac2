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

/** All of these texts, shortened; those that would look alike keep their ends, or begin where they differ. */
export function shortenedAll(texts, most) {
  const again = (cut, shorten) =>
    cut.map((each, place) => {
      const text = texts[place];
      const alike = each === text ? [] : texts.filter((other, at) => cut[at] === each && other !== text);
      return alike.length ? shorten(text, most, alike) : each;
    });
  return [withEnd, fromDifference, fromDifference].reduce(again, texts.map((text) => shortened(text, most)));
}

const reversed = (text) => [...text].reverse().join("");

function withEnd(text, most) {
  return shortened(text, most / 2) + reversed(shortened(reversed(text), most / 2)).slice(1);
}

function fromDifference(text, most, others) {
  const letters = [...text];
  const at = Math.min(...others.map((other) => [...other, ""].findIndex((letter, place) => letter !== letters[place])));
  return shortened(`…${letters.slice(at).join("")}`, most);
}
