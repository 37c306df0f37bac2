// The look of the group and of its host: colours, mode, corners, density, font, logo. Colours are kept readable.

import { contrast, distance, mixed, NEAR, readable } from "./contrast.js";

/** Contrast of a text, and of a mark, to what is behind it. */
const READABLE = 4.5;
const VISIBLE = 3;
const TEXTS = ["quiet", "accent", "good", "warn", "bad"];
const PALETTE = ["data-1", "data-2", "data-3", "data-4", "data-5", "data-6", "data-7", "data-8"];
/** How much of another colour a shade has. */
const SHADE = 0.4;
const INK = { light: "#1b1f27", dark: "#e6e9ef" };

const COLOR = { fits: (value) => hexOf(value) !== null, takes: "an opaque colour, such as #2456c4" };
const GROUND = { fits: (value) => Boolean(modeOf(value)), takes: "an opaque colour on which light or dark text can be read" };
/** @type {Record<string, {fits: (value: any) => boolean, takes: string}>} what a theme may hold */
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
const sheet = new CSSStyleSheet(); // as part of the script: the policy allows no other style that is made here
document.adoptedStyleSheets.push(sheet);

/**
 * Draws the page by these themes alone: a key that none of them holds is as always.
 * @param {(string | {place: number, toward: "ink" | "surface"})[]} own colours of the series after the palette's, or which of
 *   those before is mixed with what
 * @param {...(Record<string, any> | null | undefined)} themes of the group and of the host: a later one counts for more
 * @returns {{logo?: string, modes: Record<string, string>[]}} `modes`: the colours in light and in dark mode
 */
export function applyTheme(own, ...themes) {
  const theme = Object.assign({}, ...themes.map(checked));
  const { dataset, style } = document.documentElement;
  usual ??= { light: readIn("light"), dark: readIn("dark") }; // once: to read them takes the style of the whole page
  const [tokens, dark] = ["light", "dark"].map((mode) => tokensOf(theme, own, mode));
  sheet.replaceSync(`:root{${written(tokens)}}@media screen and (prefers-color-scheme:dark){:root:not([data-mode=light]){${written(dark)}}}@media screen{:root[data-mode=dark]{${written(dark)}}}${own.map((_, place) => seriesRule(PALETTE.length + 1 + place)).join("")}`);
  const shown = { mode: theme.mode === "auto" ? null : theme.mode, corner: theme.corner, density: theme.density };
  for (const [name, value] of Object.entries(shown)) {
    if (value === null || value === undefined) delete dataset[name];
    else dataset[name] = value;
  }
  style.setProperty("--font", theme.font ?? ""); // an empty value takes it back
  return { logo: theme.logo, modes: [tokens, dark] };
}

/** The stylesheet's colours in a mode. */
function readIn(mode) {
  document.documentElement.dataset.mode = mode;
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(["page", "surface", ...TEXTS, ...PALETTE].map((name) => [name, hexOf(style.getPropertyValue(`--${name}`)) ?? "#888888"]));
}

/** The colours of a mode: the stylesheet's where the theme says nothing. */
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

/** The given colours, and of the usual ones those that can be told from them: the same places in each mode. The last
 * one is for what is left, and stays as it is where not all are given. */
function palette(given, usual, inLight) {
  const last = usual.length - 1;
  const others = usual.filter((_, place) => place < last && given.every((each) => distance(each, inLight[place]) >= NEAR));
  return [...[...given, ...others, ...usual].slice(0, last), given[last] ?? usual[last]];
}

/** In which mode a colour can be a ground. */
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

/** What can be used of a theme; the console names what cannot, for those who wrote it. */
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

/** A colour as #rrggbb, however it was written; null for what is none, or lets something through. */
function hexOf(color) {
  if (typeof color !== "string") return null;
  context ??= document.createElement("canvas").getContext("2d");
  const found = ["#000000", "#ffffff"].map((before) => {
    context.fillStyle = before; // which stays where the colour is none
    context.fillStyle = color;
    return context.fillStyle;
  });
  return found[0] === found[1] && /^#[0-9a-f]{6}$/.test(found[0]) ? found[0] : null;
}
