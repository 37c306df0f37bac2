// The rows of a panel, by the names of their columns.

/** @typedef {{name: string, type?: string | null}} Column */

export class Rows {
  /**
   * @param {Column[]} columns
   * @param {any[][]} rows
   */
  constructor(columns, rows) {
    this.columns = columns;
    this.rows = rows;
    this.#places = new Map(columns.map((column, place) => [column.name, place]));
  }

  #places;
  #values = {};

  has(name) {
    return this.#places.has(name);
  }

  type(name) {
    return this.columns[this.#places.get(name)]?.type ?? null;
  }

  /** The values of a column. If the column does not exist, all are null. */
  values(name) {
    const place = this.#places.get(name);
    return (this.#values[place] ??= this.rows.map((row) => (place === undefined ? null : row[place])));
  }

  /**
   * The common format of the values of these columns, which share an axis.
   * @param {import("../values.js").Formats} formats
   * @param {string[]} names
   * @param {{format?: string, digits?: number, unit?: string, along?: boolean}} view the author's settings for them
   * @returns {import("../values.js").Way}
   */
  way(formats, names, { format, digits, unit, along }) {
    const [name] = names;
    return formats.way({ name, type: this.type(name), format, digits, unit, along }, names.flatMap((each) => this.values(each)));
  }

  /** A row as an object, from which a click on the row's mark takes its values. */
  record(index) {
    return Object.fromEntries(this.columns.map((column, place) => [column.name, this.rows[index][place]]));
  }
}

/** @returns {import("./buckets.js").When} what a response says about the times in its rows */
export function whenOf(data) {
  return { ...data, period: data.periods?.whole };
}
