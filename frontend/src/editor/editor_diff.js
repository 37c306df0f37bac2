// The bundle of differences: theirs beside mine, or the last commit beside what is written now. It uses the CodeMirror of
// <tenantry-code>: hatch_build.py puts code/shared/ in the place of CodeMirror's packages.

import { MergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";

const { look, sheet, sql, yaml } = customElements.get("tenantry-code").shared;

/**
 * @param {HTMLElement} host
 * @param {{ mine: string, theirs: string, editable?: boolean, labels?: [string, string], dialect?: string, language?: "sql" | "yaml" }} given
 * labels: of theirs and mine; editable: whether mine can be changed, also by taking a part of theirs
 * @returns {{ readonly text: string, close: () => void }} the text of mine
 */
export function openDiff(host, { mine, theirs, editable = false, labels = ["Theirs", "Mine"], dialect = "postgresql", language = "sql" }) {
  const place = document.createElement("div");
  const root = place.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [sheet];
  const parent = document.createElement("div");
  parent.className = "diff";
  root.append(parent);
  host.append(place);
  const side = (doc, label, fixed) => ({
    doc,
    extensions: [
      language === "yaml" ? yaml() : sql(dialect),
      lineNumbers(),
      look,
      EditorView.lineWrapping,
      EditorState.readOnly.of(fixed),
      EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", ...(fixed ? { "aria-readonly": "true" } : {}) }),
    ],
  });
  const view = new MergeView({
    a: side(theirs, labels[0], true),
    b: side(mine, labels[1], !editable),
    root,
    parent,
    gutter: true,
    highlightChanges: true,
    collapseUnchanged: { margin: 3, minSize: 6 },
    ...(editable ? { revertControls: /** @type {const} */ ("a-to-b"), renderRevertControl: () => takeButton(labels[0]) } : {}),
  });
  return {
    get text() {
      return view.b.state.doc.toString();
    },
    close() {
      view.destroy();
      place.remove();
    },
  };
}

function takeButton(label) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "\u2192";
  button.setAttribute("aria-label", `Take this part of ${label.toLowerCase()}`);
  return button;
}
