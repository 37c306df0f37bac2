// Lets listeners subscribe to named events.

export class Emitter {
  #listeners = new Map();

  /** @param {string} names separated by spaces */
  on(names, run) {
    for (const name of names.split(" ")) this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), run]);
  }

  emit(name, ...values) {
    for (const run of this.#listeners.get(name) ?? []) run(...values);
  }
}
