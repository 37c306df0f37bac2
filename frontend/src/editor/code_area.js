// A plain text area with the interface of `tenantry-code`, for a browser in which the code view could not be loaded.

import { html } from "../dashboards/dom.js";

export class CodeArea extends HTMLElement {
  #area = html("textarea", { "aria-label": "Code", spellcheck: "false", autocomplete: "off", input: () => this.dispatchEvent(new Event("change")) });

  connectedCallback() {
    this.append(this.#area);
  }

  setDocument({ path, text, readOnly }) {
    if (this.#area.value !== text) this.#area.value = text;
    this.#area.readOnly = Boolean(readOnly);
    this.#area.setAttribute("aria-label", path);
  }

  get text() {
    return this.#area.value;
  }

  setFindings() {}

  setKnowledge() {}

  setMeaning() {}

  applyEdit({ from, to, insert }) {
    this.#area.setRangeText(insert, from, to, "end");
    this.dispatchEvent(new Event("change"));
  }

  focusAt(offset) {
    this.#area.focus();
    this.#area.setSelectionRange(offset, offset);
  }

  focus() {
    this.#area.focus();
  }
}
