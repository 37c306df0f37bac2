// The look of the editor. Colours and sizes are the tokens of the page, which the shadow root inherits.

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

import { CLAUSE, TAG_MARK, TAG_PATH } from "./languages.js";

/** A colour of the tokens, darker in light mode and lighter in dark mode, so that it is readable on the background of a selection too. */
const INK = (name) => `color-mix(in srgb, var(--${name}) 85%, var(--text))`;
const HIGHLIGHT = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: INK("accent") },
  { tag: [tags.string, tags.special(tags.string)], color: INK("good") },
  { tag: [tags.number, tags.atom, tags.bool], color: INK("data-2") },
  { tag: [tags.typeName, tags.labelName], color: INK("data-7") },
  { tag: [tags.function(tags.variableName), tags.propertyName], color: INK("data-3") },
  { tag: tags.comment, color: INK("quiet"), fontStyle: "italic" },
  { tag: TAG_PATH, color: INK("data-4"), fontWeight: "600" },
  { tag: [TAG_MARK, CLAUSE], color: INK("data-4") },
  { tag: [tags.invalid, tags.escape], color: INK("bad") },
]);

const FLOATING = { background: "var(--page)", border: "var(--hairline) solid var(--line)", borderRadius: "var(--radius)", boxShadow: "var(--lift)" };
const UNDERLINE = (color) => ({ backgroundImage: "none", textDecoration: `underline wavy var(${color})`, textUnderlineOffset: "3px" });
const SIGN = (text, color) => ({ content: `"${text}"`, color: `var(${color})`, fontWeight: "600" });

const THEME = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--page)", fontSize: "var(--size-2)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-code)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--text)", padding: "var(--space-2) 0" },
  "&.cm-focused .cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { background: "var(--editor-selected)" },
  ".cm-gutters": { backgroundColor: "var(--page)", color: "var(--quiet)", border: "none", paddingLeft: "var(--space-1)" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--text)" },
  ".cm-foldPlaceholder": { background: "var(--surface)", border: "var(--hairline) solid var(--line)", color: "var(--quiet)", padding: "0 var(--space-1)" },
  ".cm-foldGutter span": { color: "var(--quiet)" },
  "&.cm-focused .cm-matchingBracket": { background: "none", outline: "var(--hairline) solid var(--line-control)", borderRadius: "2px" },
  "&.cm-focused .cm-nonmatchingBracket": { background: "none", color: "var(--bad)" },
  ".cm-selectionMatch, .cm-searchMatch": { background: "none", outline: "var(--hairline) solid var(--line-control)" },
  ".cm-searchMatch-selected": { background: "var(--editor-selected)" },
  ".cm-tooltip": { ...FLOATING, color: "var(--text)", fontFamily: "var(--font)", overflow: "hidden", maxWidth: "min(72ch, 90vw)" },
  ".cm-tooltip.cm-tooltip-autocomplete": { overflow: "visible" }, // the description of an entry is next to the list
  ".cm-tooltip.cm-completionInfo": { padding: "var(--space-2) var(--space-3)", maxWidth: "36ch" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--font-code)", fontSize: "var(--size-2)", maxHeight: "18em", minWidth: "22em" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { display: "flex", gap: "var(--space-2)", padding: "var(--space-1) var(--space-2)", lineHeight: "1.45" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { background: "var(--surface)", color: "var(--text)", boxShadow: "inset 2px 0 var(--accent)" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "600" },
  ".cm-completionDetail": { marginLeft: "auto", paddingLeft: "var(--space-3)", color: "var(--quiet)", fontStyle: "normal", font: "var(--size-1) var(--font)", alignSelf: "center", overflow: "hidden", textOverflow: "ellipsis" },
  ".cm-completionIcon": { width: "1.2em", opacity: "1", padding: "0", color: "var(--quiet)", textAlign: "center", flex: "none" },
  ".cm-completionIcon-guarded::after": SIGN("\u25c6", "--good"),
  ".cm-completionIcon-shared::after": SIGN("\u25c7", "--quiet"),
  ".cm-completionIcon-unlisted::after": SIGN("\u2298", "--bad"),
  ".cm-completionIcon-open::after": SIGN("\u25a1", "--quiet"),
  ".cm-completionIcon-column::after": SIGN("\u2022", "--quiet"),
  ".cm-completionIcon-variable::after": SIGN("{}", "--data-4"),
  ".cm-completionIcon-fragment::after": SIGN(">", "--data-4"),
  ".cm-completionIcon-filter::after": SIGN("|", "--data-4"),
  ".cm-completionIcon-function::after": SIGN("\u0192", "--data-3"),
  ".cm-completionIcon-keyword::after": SIGN("", "--accent"),
  ".cm-completionIcon-property::after": SIGN(":", "--data-3"),
  ".cm-completionIcon-text::after": SIGN("", "--quiet"),
  ".cm-lintRange-error": UNDERLINE("--bad"),
  ".cm-lintRange-warning": UNDERLINE("--warn"),
  ".cm-lintRange-info, .cm-lintRange-hint": UNDERLINE("--quiet"),
  ".findings": { width: "1.2em" },
  ".finding": { fontWeight: "600", textAlign: "center", cursor: "pointer" },
  ".finding-error::before": SIGN("\u2715", "--bad"),
  ".finding-warning::before": SIGN("!", "--warn"),
  ".finding-info::before, .finding-hint::before": SIGN("i", "--quiet"),
  ".cm-diagnostic": { padding: "var(--space-2) var(--space-3)", borderLeft: "3px solid var(--line-control)", maxWidth: "72ch", whiteSpace: "pre-wrap" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warn)" },
  ".cm-diagnosticSource": { color: "var(--quiet)", fontSize: "var(--size-1)", opacity: "1" },
  ".cm-diagnosticAction": { font: "inherit", background: "var(--page)", color: "var(--accent)", border: "var(--hairline) solid var(--line-control)", borderRadius: "var(--radius-control)", padding: "0 var(--space-2)", margin: "0 0 0 var(--space-2)" },
  ".cm-panels": { background: "var(--surface)", color: "var(--text)", border: "none", fontFamily: "var(--font)" },
  ".cm-panels-bottom": { borderTop: "var(--hairline) solid var(--line)" },
  ".cm-lintRange-active": { background: "var(--editor-selected)" },
  ".cm-panel.cm-search": { padding: "var(--space-2)" },
  ".cm-panel.cm-search label": { fontSize: "var(--size-1)" },
  ".cm-textfield": { background: "var(--page)", color: "var(--text)", border: "var(--hairline) solid var(--line-control)", borderRadius: "var(--radius-control)", fontSize: "var(--size-2)" },
  ".cm-button": { background: "var(--page)", color: "var(--text)", border: "var(--hairline) solid var(--line-control)", borderRadius: "var(--radius-control)", fontSize: "var(--size-2)" },
  ".cm-panel button[name=close]": { color: "var(--text)" },
  ".meaning": { padding: "var(--space-2) var(--space-3)", display: "grid", gap: "var(--space-1)" },
  ".meaning p": { margin: "0" },
  ".meaning code": { font: "var(--size-2)/1.45 var(--font-code)", whiteSpace: "pre-wrap", overflowWrap: "anywhere" },
  ".meaning .quiet": { color: "var(--quiet)", fontSize: "var(--size-1)" },
});

export const look = [THEME, syntaxHighlighting(HIGHLIGHT)];
