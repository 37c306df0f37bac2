// The bundle of differences: shows the text of others, or of the last commit, next to the current text. It uses the CodeMirror of
// <tenantry-code>: hatch_build.py replaces CodeMirror's packages with code/shared/.

import { MergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";

const { look, sheet, sql, yaml } = customElements.get("tenantry-code").shared;

const UNDERLINED = (color) => ({ background: `linear-gradient(var(${color}), var(${color})) bottom/100% 2px no-repeat` });
const GROUND = (color) => ({ backgroundColor: `color-mix(in srgb, var(${color}) 8%, var(--page))` });
const THEME = EditorView.theme({
  "& .cm-collapsedLines": { background: "var(--surface)", color: "var(--quiet)", fontFamily: "var(--font)", fontSize: "var(--size-1)" },
  "& .cm-collapsedLines::before, & .cm-collapsedLines::after": { content: '"\u22ef"' },
  "&.cm-merge-a .cm-changedLine": GROUND("--bad"),
  "&.cm-merge-b .cm-changedLine": GROUND("--good"),
  "&.cm-merge-a .cm-changedText": UNDERLINED("--bad"),
  "&.cm-merge-b .cm-changedText": UNDERLINED("--good"),
  "&.cm-merge-a .cm-changedLineGutter": { background: "var(--bad)" },
  "&.cm-merge-b .cm-changedLineGutter": { background: "var(--good)" },
});
const SHEET = new CSSStyleSheet();
SHEET.replaceSync(`
.heads { display: flex; padding: var(--space-1) 0; color: var(--quiet); font: 600 var(--size-1)/1.45 var(--font); }
.heads span { flex: 1; padding-inline: var(--space-3); }
.cm-merge-revert button { color: var(--accent); }
`);

/**
 * @param {HTMLElement} host
 * @param {{ mine: string, theirs: string, editable?: boolean, labels?: [string, string], dialect?: string, language?: "sql" | "yaml" }}
 *   given labels: the titles of both texts; editable: whether `mine` can be changed, also by copying a part of `theirs`
 * @returns {{ readonly text: string, close: () => void }} `text`: the current text of `mine`
 */
export function openDiff(host, { mine, theirs, editable = false, labels = ["Theirs", "Mine"], dialect = "postgresql", language = "sql" }) {
  const place = document.createElement("div");
  const root = place.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [sheet, SHEET];
  const parent = document.createElement("div");
  const heads = document.createElement("div");
  heads.className = "heads";
  for (const label of labels) heads.append(Object.assign(document.createElement("span"), { textContent: label }));
  root.append(heads, parent);
  host.append(place);
  const side = (doc, label, fixed) => ({
    doc,
    extensions: [
      language === "yaml" ? yaml() : sql(dialect),
      lineNumbers(),
      look,
      THEME,
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
  const unfolded = unfoldByKeys(parent);
  return {
    get text() {
      return view.b.state.doc.toString();
    },
    close() {
      unfolded.disconnect();
      view.destroy();
      place.remove();
    },
  };
}

/** Makes a button of the line that tells how many lines are unchanged, so that the Tab key reaches it. */
function unfoldByKeys(parent) {
  const reach = () => {
    for (const line of parent.querySelectorAll(".cm-collapsedLines:not([role])")) {
      line.tabIndex = 0;
      line.setAttribute("role", "button");
    }
  };
  parent.addEventListener("keydown", (event) => {
    const line = event.target;
    if (!line.matches(".cm-collapsedLines") || !["Enter", " "].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation(); // so that the text below gets no key
    const view = EditorView.findFromDOM(line);
    const anchor = view.posAtDOM(line);
    line.click();
    view.dispatch({ selection: { anchor } });
    view.focus();
  }, true);
  const watched = new MutationObserver(reach);
  watched.observe(parent, { childList: true, subtree: true });
  reach();
  return watched;
}

function takeButton(label) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "\u2192";
  button.setAttribute("aria-label", `Take this part of ${label.toLowerCase()}`);
  return button;
}
