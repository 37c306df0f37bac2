// The theme of the group and its host: colours, mode, corners, density, font, logo. Colours are changed where they would be hard to read.

import { contrast, distance, mixed, NEAR, readable } from "./contrast.js";

/** Minimum contrast to the background: of texts, and of marks. */
const READABLE = 4.5;
const VISIBLE = 3;
const TEXTS = ["quiet", "accent", "good", "warn", "bad"];
const PALETTE = ["data-1", "data-2", "data-3", "data-4", "data-5", "data-6", "data-7", "data-8"];
/** The share of another colour in a shade. */
const SHADE = 0.4;
const INK = { light: "#1b1f27", dark: "#e6e9ef" };

const COLOR = { fits: (value) => hexOf(value) !== null, takes: "an opaque colour, such as #2456c4" };
const GROUND = { fits: (value) => Boolean(modeOf(value)), takes: "an opaque colour on which light or dark text can be read" };
/** @type {Record<string, {fits: (value: any) => boolean, takes: string}>} the keys that a theme may have */
const KEYS = {
  mode: oneOf("light", "dark", "auto"),
  accent: COLOR,
  good: COLOR,
  warn: COLOR,
  bad: COLOR,
  palette: { fits: (value) => Array.isArray(value) && value.length > 0 && value.length <= PALETTE.length && value.every(COLOR.fits), takes: "a list of 1 to 8 opaque colours" },
  background: GROUND,
  surface: GROUND,
  corner: oneOf("square", "round"),
  density: oneOf("compact"),
  font: { fits: (value) => CSS.supports("font-family", value), takes: "families of fonts, such as Georgia, serif" },
  logo: { fits: (value) => String(value).startsWith("data:image/"), takes: "an image as a data:image/… address" },
};
const warned = new Set();
let context;
let usual;
const sheet = new CSSStyleSheet(); // part of the script, because the policy allows no other generated styles
document.adoptedStyleSheets.push(sheet);

/**
 * Applies these themes and nothing else. A key that no theme sets has its usual value.
 * @param {(string | {place: number, toward: "ink" | "surface"})[]} own the series colours that follow the palette: each is a colour, or a
 *   place in the palette and what to mix its colour with
 * @param {...(Record<string, any> | null | undefined)} themes the themes of the group and of the host; a later one takes precedence
 * @returns {{logo?: string, modes: Record<string, string>[]}} `modes`: the colours in light and in dark mode
 */
export function applyTheme(own, ...themes) {
  const theme = Object.assign({}, ...themes.map(checked));
  const { dataset, style } = document.documentElement;
  usual ??= { light: readIn("light"), dark: readIn("dark") }; // once, because it makes the browser style the whole page
  const [tokens, dark] = ["light", "dark"].map((mode) => tokensOf(theme, own, mode));
  sheet.replaceSync(`:root{${written(tokens)}}@media screen and (prefers-color-scheme:dark){:root:not([data-mode=light]){${written(dark)}}}@media screen{:root[data-mode=dark]{${written(dark)}}}${own.map((_, place) => seriesRule(PALETTE.length + 1 + place)).join("")}`);
  const shown = { mode: theme.mode === "auto" ? null : theme.mode, corner: theme.corner, density: theme.density };
  for (const [name, value] of Object.entries(shown)) {
    if (value === null || value === undefined) delete dataset[name];
    else dataset[name] = value;
  }
  style.setProperty("--font", theme.font ?? ""); // an empty value removes the property
  return { logo: theme.logo, modes: [tokens, dark] };
}

/** Reads the stylesheet's colours in a mode. */
function readIn(mode) {
  document.documentElement.dataset.mode = mode;
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(["page", "surface", ...TEXTS, ...PALETTE].map((name) => [name, hexOf(style.getPropertyValue(`--${name}`)) ?? "#888888"]));
}

/** The colours of a mode: those of the theme, or else those of the stylesheet. */
function tokensOf(theme, own, mode) {
  const mine = usual[mode];
  const ground = (value) => (value && modeOf(value) === mode ? hexOf(value) : null);
  const background = ground(theme.background);
  const page = background ?? mine.page;
  const surface = ground(theme.surface) ?? (background ? mixed(background, INK[mode], 0.04) : mine.surface);
  const found = { page, surface };
  const put = (name, color, least) => (found[name] = readable(color, [page, surface], least));
  for (const name of TEXTS) put(name, hexOf(theme[name]) ?? mine[name], READABLE);
  if (theme.accent) found.fill = found.button = found["button-line"] = found.accent;
  const colors = palette((theme.palette ?? []).map(hexOf), PALETTE.map((name) => mine[name]), PALETTE.map((name) => usual.light[name]));
  const shade = ({ place, toward }) => mixed(found[`data-${place}`], { ink: INK[mode], surface }[toward], SHADE);
  [...colors, ...own].forEach((color, place) => put(`data-${place + 1}`, hexOf(color) ?? shade(color), VISIBLE));
  return found;
}

/**
 * The given colours, followed by the usual colours that can be distinguished from them. Each place has the same colour in both modes. The
 * last place is for all other groups together, and keeps its usual colour unless a colour is given for it.
 */
function palette(given, usual, inLight) {
  const last = usual.length - 1;
  const others = usual.filter((_, place) => place < last && given.every((each) => distance(each, inLight[place]) >= NEAR));
  return [...[...given, ...others, ...usual].slice(0, last), given[last] ?? usual[last]];
}

/** The mode in which a colour can be a background. */
function modeOf(color) {
  const ground = hexOf(color);
  return ground && Object.keys(INK).find((mode) => contrast(ground, INK[mode]) >= READABLE * 1.5);
}

function written(tokens) {
  return Object.entries(tokens).map(([name, color]) => `--${name}:${color};`).join("");
}

function seriesRule(number) {
  return `.series-${number}{--series:var(--data-${number})}`;
}

/** The valid keys of a theme. Invalid ones are reported on the console, for the author of the theme. */
function checked(theme) {
  return Object.fromEntries(Object.entries(theme ?? {}).filter(([name, value]) => value !== null && value !== undefined && isUsable(name, value)));
}

function isUsable(name, value) {
  const key = Object.hasOwn(KEYS, name) ? KEYS[name] : null;
  if (key?.fits(value)) return true;
  const text = `Tenantry: ${name} of the theme is ${JSON.stringify(value).slice(0, 60)}: it takes ${key?.takes ?? "nothing, for there is no such key"}`;
  if (!warned.has(text)) console.warn(text);
  warned.add(text);
  return false;
}

function oneOf(...values) {
  return { fits: (value) => values.includes(value), takes: values.join(" or ") };
}

/** A colour in any CSS notation as #rrggbb. Null if it is not a colour, or if it is transparent. */
function hexOf(color) {
  if (typeof color !== "string") return null;
  context ??= document.createElement("canvas").getContext("2d");
  const found = ["#000000", "#ffffff"].map((before) => {
    context.fillStyle = before; // stays if `color` is not a colour
    context.fillStyle = color;
    return context.fillStyle;
  });
  return found[0] === found[1] && /^#[0-9a-f]{6}$/.test(found[0]) ? found[0] : null;
}
