// Measures the width of texts. Letters differ in width, so each text is measured, but only once.

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

/** The longest beginning of a text that fits together with `mark`, but at least one letter. */
function beginning(text, most, mark) {
  const letters = [...text];
  while (letters.length > 1 && textWidth(letters.join("") + mark) > most) letters.pop();
  return letters.join("");
}

/** The text or, if it is too wide, its beginning with an ellipsis. */
export function shortened(text, most) {
  return textWidth(text) <= most ? text : `${beginning(text, most, "…").trimEnd()}…`;
}

/**
 * Splits a text into lines. The last line is shortened if it is too wide.
 * @param {number} room pixels of a line
 * @param {number} most lines
 * @param {boolean} [splits] whether a word that is wider than a line is continued on the next line; otherwise it is shortened
 */
export function wrapped(text, room, most, splits) {
  if (most === 1 || textWidth(text) <= room) return [shortened(text, room)];
  const fitting = beginning(text, room, "").length;
  const space = text.lastIndexOf(" ", fitting);
  const end = space > 0 ? space : splits ? fitting : text.indexOf(" ") > 0 ? text.indexOf(" ") : text.length;
  const rest = text.slice(end).trimStart();
  return [shortened(text.slice(0, end), room), ...(rest && wrapped(rest, room, most - 1, splits))];
}

/** Whether the lines contain all letters of the text. */
export function isWhole(lines, text) {
  return lines.join("").replaceAll(" ", "") === text.replaceAll(" ", "");
}

/** All texts, shortened. Texts that would look alike keep their ends too or, if that is not enough, begin where they differ. */
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
