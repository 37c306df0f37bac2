// The viewer's choices. They are kept in the fragment of the address, so that they survive a reload and can be shared.

/**
 * @typedef {string | string[] | {preset: string} | {start?: string | null, end?: string | null}} Value
 * @typedef {{name: string, kind: string, label: string, many: boolean, default: Value | null, clearable: boolean,
 *   open: string[], depends: string[], choices: {value: string, label: string}[] | null}} Control
 */
// If a control is clearable, an empty string or list is a choice, too. It means "no value", despite the default.

const RANGE = /^(\d{4}-\d{2}-\d{2})?\.\.(\d{4}-\d{2}-\d{2})?$/;

/** Whether a query provides the values that a control offers. @param {Control} control */
export function isFilled({ kind, choices }) {
  return kind === "choices" && !choices;
}

export class Filters {
  /** @type {Map<string, Value>} */
  #chosen = new Map();

  /** @param {Control[]} controls */
  constructor(controls = []) {
    this.controls = new Map(controls.map((control) => [control.name, control]));
  }

  /** The current value of a control: the viewer's choice, or else the default. */
  value(name) {
    return this.#chosen.get(name) ?? this.controls.get(name)?.default ?? null;
  }

  /** Whether the viewer has chosen another value than the default. */
  isChosen(name) {
    return this.#chosen.has(name);
  }

  /**
   * Sets values. Null or the default itself resets a control to its default. So does an empty value, unless the control is clearable.
   * @param {Record<string, Value | null>} values
   * @returns {string[]} the names whose value changed
   */
  set(values) {
    const changed = [];
    for (const [name, given] of Object.entries(values)) {
      const before = JSON.stringify(this.value(name));
      const control = this.controls.get(name);
      const value = control?.kind === "range" && typeof given === "string" ? this.#parsed(name, [given]) : given;
      if ((isNothing(value) && !(control?.clearable && isEmpty(value))) || same(value, control?.default)) this.#chosen.delete(name);
      else this.#chosen.set(name, value);
      if (JSON.stringify(this.value(name)) !== before) changed.push(name);
    }
    return changed;
  }

  /**
   * Like `set`, but every control that is not named gets its default.
   * @param {Record<string, Value | null>} values
   * @returns {string[]} the names whose value changed
   */
  replace(values) {
    return this.set({ ...Object.fromEntries([...this.#chosen.keys()].map((name) => [name, null])), ...values });
  }

  /** @returns {Record<string, Value>} the choices in the form that a request needs */
  get chosen() {
    return Object.fromEntries(this.#chosen);
  }

  /** Reads the choices from a fragment. */
  read(fragment) {
    const found = new URLSearchParams(fragment.replace(/^#/, ""));
    for (const name of new Set(found.keys())) this.set({ [name]: this.#parsed(name, found.getAll(name)) });
  }

  #parsed(name, texts) {
    const control = this.controls.get(name);
    if (control?.kind === "range") {
      const range = RANGE.exec(texts[0]);
      return range ? { start: range[1] ?? null, end: range[2] ?? null } : { preset: texts[0] };
    }
    return control?.many || texts.length > 1 ? texts.filter(Boolean) : texts[0];
  }

  /** @returns {string} the fragment without # */
  get fragment() {
    const parts = new URLSearchParams();
    for (const [name, value] of this.#chosen) for (const text of written(value)) parts.append(name, text);
    return parts.toString();
  }
}

/** Controls of which only the names are known. Every value that is set for them is kept. @param {Iterable<string>} names */
export function asTheyAre(names) {
  return Array.from(names, (name) => ({ name, clearable: true }));
}

function written(value) {
  if (Array.isArray(value)) return value.length ? value : [""];
  if (typeof value !== "object") return [String(value)];
  return [value.preset ?? `${value.start ?? ""}..${value.end ?? ""}`];
}

function isEmpty(value) {
  return value === "" || (Array.isArray(value) && !value.length);
}

function isNothing(value) {
  if (value === null || value === undefined || isEmpty(value)) return true;
  return !Array.isArray(value) && typeof value === "object" && !value.preset && !value.start && !value.end;
}

function same(value, other) {
  return JSON.stringify(value) === JSON.stringify(other ?? null);
}
