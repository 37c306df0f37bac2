// The group's look: accent, mode, corners, density, font. Colours are kept readable on both grounds.

const GROUNDS = { light: ["#ffffff", "#f7f8fa"], dark: ["#0f1115", "#171a21"] };
const READABLE = 4.5;

/** @param {{accent?: string, mode?: string, corner?: string, density?: string, font?: string}} theme */
export function applyTheme(theme) {
  const root = document.documentElement;
  if (theme.mode === "light" || theme.mode === "dark") root.dataset.mode = theme.mode;
  else if (theme.mode === "auto") delete root.dataset.mode;
  if (/^#[0-9a-f]{6}$/i.test(theme.accent ?? "")) {
    root.dataset.accent = "";
    for (const mode of Object.keys(GROUNDS)) root.style.setProperty(`--accent-${mode}`, readable(theme.accent, mode));
  }
  for (const name of ["corner", "density"]) if (theme[name]) root.dataset[name] = theme[name];
  if (theme.font) root.style.setProperty("--font", theme.font);
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
