// CodeMirror with its own SQL mode and completion, which the SQL editor is compared with.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { PostgreSQL, sql } from "@codemirror/lang-sql";
import { bracketMatching, defaultHighlightStyle, foldGutter, foldKeymap, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";

window.bare = (text, at, schema) => {
  const root = document.body.attachShadow({ mode: "open" });
  const keys = [closeBracketsKeymap, defaultKeymap, searchKeymap, historyKeymap, foldKeymap, completionKeymap, lintKeymap].flat();
  const shown = [lineNumbers(), highlightActiveLineGutter(), highlightActiveLine(), highlightSpecialChars(), foldGutter(), drawSelection(), lintGutter()];
  const typing = [history(), indentOnInput(), bracketMatching(), closeBrackets(), autocompletion(), highlightSelectionMatches(), keymap.of(keys)];
  const language = [sql({ dialect: PostgreSQL, schema }), syntaxHighlighting(defaultHighlightStyle)];
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({ doc: text, extensions: [shown, typing, language, EditorView.theme({ "&": { height: "80vh" } })] }),
  });
  view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at) });
  view.focus();
};
