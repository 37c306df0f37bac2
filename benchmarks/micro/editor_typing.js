// The two editors that are compared: CodeMirror with its own SQL mode and completion, and <tenantry-code>. Both know the
// same tables. Each keystroke is timed until the screen shows it.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { PostgreSQL, sql } from "@codemirror/lang-sql";
import { bracketMatching, defaultHighlightStyle, foldGutter, foldKeymap, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintKeymap, lintGutter } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";

import "./src/editor/code/element.js";

const times = (window.times = []);

window.bare = (text, tables) => {
  const schema = Object.fromEntries(tables.map(({ name, columns }) => [name, columns]));
  const root = document.body.attachShadow({ mode: "open" });
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(), highlightActiveLineGutter(), highlightActiveLine(), highlightSpecialChars(), history(), foldGutter(), drawSelection(),
        indentOnInput(), syntaxHighlighting(defaultHighlightStyle), bracketMatching(), closeBrackets(), autocompletion(),
        highlightSelectionMatches(), lintGutter(), sql({ dialect: PostgreSQL, schema }),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, ...lintKeymap]),
        EditorView.theme({ "&": { height: "90vh" } }),
      ],
    }),
  });
  const at = text.indexOf("/* here */");
  view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at) });
  view.focus();
};

window.ours = (text, tables) => {
  const code = document.createElement("tenantry-code");
  document.body.append(code);
  code.setDocument({ path: "a.sql", text, dialect: "postgresql", language: "sql" });
  code.setKnowledge({ catalogue: { dialect: "postgresql", tables, functions: ["count", "date_trunc", "sum"] } });
  code.focusAt(text.indexOf("/* here */"));
};

/** Milliseconds from a catalogue that has come to the list of columns on the screen. */
window.firstCompletion = (tables) =>
  new Promise((resolve) => {
    const code = document.querySelector("tenantry-code");
    const start = performance.now();
    code.setKnowledge({ catalogue: { dialect: "postgresql", tables: structuredClone(tables) } });
    new MutationObserver((_, observer) => {
      if (!code.shadowRoot.querySelector(".cm-tooltip-autocomplete li")) return;
      observer.disconnect();
      shown(() => resolve(performance.now() - start));
    }).observe(code.shadowRoot, { subtree: true, childList: true });
    const target = code.shadowRoot.querySelector(".cm-content");
    target.dispatchEvent(new KeyboardEvent("keydown", { key: " ", code: "Space", keyCode: 32, ctrlKey: true, bubbles: true, cancelable: true }));
  });

function shown(then) {
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = then;
    port2.postMessage(null);
  });
}

window.addEventListener("keydown", () => {
  const start = performance.now();
  shown(() => times.push(performance.now() - start));
}, true);
