// The controls of a page: the fields, the chosen values as chips, and a button that resets them.

import { freshId, html, icon } from "../dom.js";
import { words } from "../charts/series.js";
import { isFilled } from "../filters.js";
import { choicesField } from "./choices.js";
import { pickerField } from "./picker.js";
import { plainField } from "./plain.js";
import { rangeLabel } from "./presets.js";

/**
 * @typedef {object} Place
 * @property {() => any} value returns the current value
 * @property {(value: any) => void} change
 * @property {import("../values.js").Formats} formats
 * @property {string} id the id of the element that the label belongs to
 */
/**
 * @typedef {object} Field
 * @property {HTMLElement} element
 * @property {() => void} show writes what holds now
 * @property {(choices: {value: string, label: string}[] | null) => void} [fill] null: they could not be loaded
 * @property {(value: any) => string} [text] a value as people read it
 */

export class Controls {
  /** @type {Map<string, Field>} */
  #fields = new Map();
  /** @type {Map<string, HTMLElement>} why a control has no values, if a query provides them */
  #problems = new Map();

  /**
   * @param {import("../filters.js").Filters} filters
   * @param {import("../values.js").Formats} formats
   * @param {{change: (values: Record<string, any>) => void, ask: (name: string) => void}} dashboard `ask`: requests the choices of a
   *   control again
   */
  constructor(filters, formats, { change, ask }) {
    this.filters = filters;
    this.formats = formats;
    this.change = change;
    this.ask = ask;
    this.chips = html("ul", { class: "chips", "aria-label": "Chosen", hidden: true });
    const fields = [...filters.controls.values()].map((control) => this.#field(control));
    this.element = html("div", { class: "controls", role: "group", "aria-label": "Filters", hidden: !fields.length }, ...fields);
    this.show();
  }

  #field(control) {
    const id = freshId("control");
    const place = { value: () => this.filters.value(control.name), change: (value) => this.change({ [control.name]: value }), formats: this.formats, id };
    const make = { range: rangeField, choices: choicesField }[control.kind] ?? plainField;
    const field = make(control, place);
    this.#fields.set(control.name, field);
    const problem = isFilled(control) ? html("div", { class: "problem", role: "alert", hidden: true }) : null;
    if (problem) this.#problems.set(control.name, problem);
    return html("div", { class: `control control-${control.kind}`, title: control.description || null }, html("label", { for: id, id: `${id}-label` }, control.label), field.element, problem);
  }

  /** Sets the choices of a control that a query fills. */
  fill(name, choices) {
    this.#say(name);
    this.#fields.get(name)?.fill?.(choices);
    this.show();
  }

  /**
   * Shows that the choices of a control could not be loaded. Removes the previous choices, because they may depend on values that have
   * changed.
   * @param {string} name
   * @param {string} reason a sentence for the viewer
   */
  fail(name, reason) {
    this.fill(name, null);
    const again = html("button", { type: "button", class: "link" }, "Try again");
    again.addEventListener("click", () => {
      again.closest(".control").querySelector("button, select").focus(); // before this button is removed
      this.#say(name);
      this.ask(name);
    });
    this.#say(name, html("span", {}, reason), " ", again);
  }

  #say(name, ...words) {
    const problem = this.#problems.get(name);
    if (!problem) return;
    problem.replaceChildren(...words);
    problem.hidden = !words.length;
  }

  /** Writes the current values into all fields and chips. */
  show() {
    for (const field of this.#fields.values()) field.show();
    const chosen = Object.entries(this.filters.chosen).flatMap(([name, value]) => this.#chips(name, value));
    const reset = html("li", {}, html("button", { type: "button", class: "link reset", click: () => this.#reset() }, "Reset"));
    this.chips.replaceChildren(...chosen, ...(chosen.length ? [reset] : []));
    this.chips.hidden = !chosen.length;
  }

  #chips(name, value) {
    const label = this.label(name);
    if (value.length === 0) return [this.#chip(`${label}: All`, () => this.change({ [name]: null }))];
    if (!Array.isArray(value)) return [this.#chip(`${label}: ${this.text(name, value)}`, () => this.change({ [name]: null }))];
    return value.map((one) => this.#chip(`${label}: ${this.text(name, one)}`, () => this.change({ [name]: others(value, one) })));
  }

  label(name) {
    return this.filters.controls.get(name)?.label ?? words(name);
  }

  /** A value as the viewer reads it. */
  text(name, value) {
    if (typeof value === "object") return rangeLabel(value, this.formats);
    if (this.filters.controls.get(name)?.kind === "date") return this.formats.text(value, { format: "date" });
    return this.#fields.get(name)?.text?.(value) ?? String(value);
  }

  #chip(text, remove) {
    const gone = () => {
      remove();
      (this.chips.querySelector("button") ?? this.element.querySelector("button, select, input"))?.focus();
    };
    return html("li", { class: "chip" }, html("span", {}, text), html("button", { type: "button", class: "chip-close", "aria-label": `Remove ${text}`, click: gone }, icon("close")));
  }

  #reset() {
    this.change(Object.fromEntries(Object.keys(this.filters.chosen).map((name) => [name, null])));
    this.element.querySelector("button, select, input")?.focus();
  }
}

function rangeField(control, place) {
  return pickerField(control, place, () => rangeLabel(place.value(), place.formats));
}

/** The values without `one`. Null if none remain, as if the viewer had chosen nothing. */
function others(values, one) {
  const left = values.filter((each) => each !== one);
  return left.length ? left : null;
}
