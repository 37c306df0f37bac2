// The look of the group and of its host: accent, mode, corners, density, font, logo. Colours are kept readable on both grounds.

const GROUNDS = { light: ["#ffffff", "#f7f8fa"], dark: ["#0f1115", "#171a21"] };
const READABLE = 4.5;

/** @type {Record<string, {fits: (value: string) => boolean, takes: string}>} what a theme may hold */
const KEYS = {
  mode: oneOf("light", "dark", "auto"),
  accent: { fits: (value) => hexOf(value) !== null, takes: "an opaque colour, such as #2456c4" },
  corner: oneOf("square", "round"),
  density: oneOf("compact"),
  font: { fits: (value) => CSS.supports("font-family", value), takes: "families of fonts, such as Georgia, serif" },
  logo: { fits: (value) => value.startsWith("data:image/"), takes: "an image as a data:image/… address" },
};
const warned = new Set();

/**
 * Draws the page by these themes alone: a key that none of them holds is as always.
 * @param {...(Record<string, string | null> | null | undefined)} themes of the group and of the host: a later one counts for more
 * @returns {Record<string, string>} what counts
 */
export function applyTheme(...themes) {
  const theme = Object.assign({}, ...themes.map(checked));
  const { dataset, style } = document.documentElement;
  const shown = { mode: theme.mode === "auto" ? null : theme.mode, accent: theme.accent && "", corner: theme.corner, density: theme.density };
  for (const [name, value] of Object.entries(shown)) {
    if (value === null || value === undefined) delete dataset[name];
    else dataset[name] = value;
  }
  for (const mode of Object.keys(GROUNDS)) style.setProperty(`--accent-${mode}`, theme.accent ? readable(hexOf(theme.accent), mode) : "");
  style.setProperty("--font", theme.font ?? ""); // an empty value takes it back
  return theme;
}

/** What can be used of a theme; the console names what cannot, for those who wrote it. */
function checked(theme) {
  return Object.fromEntries(Object.entries(theme ?? {}).filter(([name, value]) => value !== null && value !== undefined && isUsable(name, value)));
}

function isUsable(name, value) {
  const key = Object.hasOwn(KEYS, name) ? KEYS[name] : null;
  if (key && typeof value === "string" && key.fits(value)) return true;
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
  const context = document.createElement("canvas").getContext("2d");
  const found = ["#000000", "#ffffff"].map((before) => {
    context.fillStyle = before; // which stays where the colour is none
    context.fillStyle = color;
    return context.fillStyle;
  });
  return found[0] === found[1] && /^#[0-9a-f]{6}$/.test(found[0]) ? found[0] : null;
}

/** The colour, or one like it that can be read on the grounds of a mode. */
export function readable(color, mode) {
  const toward = mode === "light" ? 0 : 255;
  let parts = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  const least = () => Math.min(...GROUNDS[mode].map((ground) => contrast(hex(parts), ground)));
  for (let step = 0; step < 40 && least() < READABLE; step += 1) parts = parts.map((part) => Math.round(part + (toward - part) * 0.06 + Math.sign(toward - part)));
  return hex(parts);
}

function hex(parts) {
  return `#${parts.map((part) => Math.min(255, Math.max(0, part)).toString(16).padStart(2, "0")).join("")}`;
}

/** WCAG 2.2, relative luminance and contrast ratio. */
function contrast(one, other) {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color) {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
