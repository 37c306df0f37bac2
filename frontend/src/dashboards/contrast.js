// Contrast and similarity of colours, which are written as #rrggbb.

/** Colours that are nearer to each other than this are hard to tell apart. */
export const NEAR = 80;

/** The colour itself or, if its contrast to one of these backgrounds is too low, a similar colour with enough contrast. */
export function readable(color, grounds, least) {
  const toward = luminance(grounds[0]) > 0.18 ? 0 : 255;
  let parts = partsOf(color);
  const low = () => Math.min(...grounds.map((ground) => contrast(hex(parts), ground)));
  for (let step = 0; step < 40 && low() < least; step += 1) parts = parts.map((part) => Math.round(part + (toward - part) * 0.06 + Math.sign(toward - part)));
  return hex(parts);
}

/** Mixes a share of another colour into a colour. */
export function mixed(color, other, share) {
  const others = partsOf(other);
  return hex(partsOf(color).map((part, place) => Math.round(part + (others[place] - part) * share)));
}

/** How different two colours look, approximately, from 0 to 765. */
export function distance(one, other) {
  const [a, b] = [partsOf(one), partsOf(other)];
  const red = (a[0] + b[0]) / 512;
  const weights = [2 + red, 4, 3 - red];
  return Math.sqrt(weights.reduce((sum, weight, place) => sum + weight * (a[place] - b[place]) ** 2, 0));
}

/** WCAG 2.2, relative luminance and contrast ratio. */
export function contrast(one, other) {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function partsOf(color) {
  return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
}

function hex(parts) {
  return `#${parts.map((part) => Math.min(255, Math.max(0, part)).toString(16).padStart(2, "0")).join("")}`;
}

function luminance(color) {
  const [red, green, blue] = partsOf(color).map((byte) => {
    const part = byte / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
