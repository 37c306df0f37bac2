// Which colour a series has: the same one for the same thing, in all charts of a page. A number, which is a CSS class.

const COLOURS = 8;

export class SeriesColors {
  #taken = new Map();

  /**
   * @param {string} what the column, or "" for the names of measures
   * @param {any} value
   * @returns {number} from 1
   */
  of(what, value) {
    const key = JSON.stringify([what, value]);
    if (!this.#taken.has(key)) {
      const before = [...this.#taken.keys()].filter((each) => JSON.parse(each)[0] === what).length;
      this.#taken.set(key, (before % COLOURS) + 1);
    }
    return this.#taken.get(key);
  }
}
