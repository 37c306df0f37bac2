// <tenantry-code>: the editor of a file. It is in a shadow root, because there the strict policy allows CodeMirror's styles.

import { acceptCompletion, closeBrackets, closeBracketsKeymap, completionKeymap, completionStatus } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, codeFolding, foldGutter, foldKeymap, indentOnInput } from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, Prec } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";

import { load } from "../../dashboards/chunks.js";
import { look } from "./colors.js";
import { completionFrom, sqlCompletion } from "./completion.js";
import { findings, showFindings } from "./findings.js";
import { Knowledge } from "./knowledge.js";
import { lexerOf, sql, yaml } from "./languages.js";
import { meanings, showMeaning } from "./meaning.js";
import { pinned } from "./pinned.js";
import { shared } from "./shared.js";
import { typedOver } from "./typing.js";

const HELP = "Press Escape, then Tab, to leave the editor.";
const MOST_KEPT = 50;
const SHEET = new CSSStyleSheet();
SHEET.replaceSync(`
:host { display: block; min-height: 0; --editor-selected: color-mix(in srgb, var(--accent) 16%, var(--page)); }
.editor { height: 100%; position: relative; }
.editor:focus-within::after { content: ""; position: absolute; inset: 0; z-index: 300; pointer-events: none; outline: var(--hairline) solid var(--accent); outline-offset: calc(-1 * var(--hairline)); }
.help { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
`);

/** @typedef {{ path: string, text: string, dialect?: string, language: "sql" | "yaml", readOnly?: boolean }} Shown */

class TenantryCode extends HTMLElement {
  /** Used by the bundle of differences. */
  static shared = { ...shared, sheet: SHEET };

  /** @type {EditorView} */ #view;
  #given = {};
  /** The text of the newest document. It is kept, because each keystroke needs it several times. */
  #joined = { doc: null, text: "" };
  #knowledge = new Knowledge();
  #language = new Compartment();
  #access = new Compartment();
  /** @type {Shown} */
  #shown = { path: "", text: "", language: "sql" };
  /** @type {Map<string, { state: EditorState, top: number, left: number }>} the history and selection of files that are not shown */
  #kept = new Map();

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open", delegatesFocus: true });
    root.adoptedStyleSheets = [SHEET];
    const place = document.createElement("div");
    place.className = "editor";
    const help = document.createElement("p");
    help.className = "help";
    help.id = "help";
    help.textContent = HELP;
    root.append(place, help);
    this.#view = new EditorView({ root, parent: place, state: this.#state(this.#shown) });
    let before = 0;
    new ResizeObserver(([{ contentRect: { height } }]) => {
      if (height < before) this.#keepCursor(before - height);
      before = height;
    }).observe(this);
  }

  /**
   * Shows a file. A file that was shown before keeps its history and its place if its text is the same.
   * @param {Shown} shown
   */
  setDocument(shown) {
    const kept = this.#kept.get(shown.path);
    const before = this.#shown;
    if (before.path && before.path !== shown.path) this.#keep(before.path);
    this.#shown = shown;
    if (before.dialect !== shown.dialect) this.setKnowledge(this.#given);
    const same = before.path === shown.path ? this.#place() : kept;
    if (same && same.state.doc.toString() === shown.text) {
      if (this.#view.state !== same.state) this.#view.setState(same.state);
      this.#view.dispatch({ effects: [this.#language.reconfigure(this.#languageOf(shown)), this.#access.reconfigure(accessOf(shown))] });
      this.#scroll(same);
    } else if (before.path === shown.path) {
      this.#view.dispatch({
        changes: { from: 0, to: this.#view.state.doc.length, insert: shown.text },
        effects: [this.#language.reconfigure(this.#languageOf(shown)), this.#access.reconfigure(accessOf(shown))],
      });
    } else {
      this.#view.setState(this.#state(shown));
      this.#scroll({ top: 0, left: 0 });
    }
    if (shown.language === "yaml") this.#loadYaml(shown);
  }

  /** @returns {string} */
  get text() {
    const { doc } = this.#view.state;
    if (this.#joined.doc !== doc) this.#joined = { doc, text: doc.toString() };
    return this.#joined.text;
  }

  /** @param {readonly import("./findings.js").Finding[]} found findings in the text that is shown */
  setFindings(found) {
    showFindings(this.#view, found);
  }

  /** @param {ConstructorParameters<typeof Knowledge>[0]} given */
  setKnowledge(given) {
    this.#given = given;
    this.#knowledge = new Knowledge(given, this.#shown.dialect);
  }

  /** @param {Parameters<typeof showMeaning>[1]} meaning of the text that is shown; null removes it */
  setMeaning(meaning) {
    showMeaning(this.#view, meaning);
  }

  /** @param {import("./findings.js").Edit} edit */
  applyEdit({ from, to, insert }) {
    this.#view.dispatch({ changes: { from, to, insert }, userEvent: "input.fix" });
  }

  /** @param {number} offset the new place of the cursor */
  focusAt(offset) {
    const anchor = Math.min(Math.max(0, offset), this.#view.state.doc.length);
    this.#view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
    this.#view.focus();
  }

  focus() {
    this.#view.focus();
  }

  /**
   * Call this when the view has become lower, for example because of a list below it. If the line of the cursor was visible, it stays
   * visible.
   */
  #keepCursor(lost) {
    const { scrollDOM, state, defaultLineHeight } = this.#view;
    const { bottom } = scrollDOM.getBoundingClientRect();
    const hidden = (this.#view.coordsAtPos(state.selection.main.head)?.bottom ?? 0) - bottom;
    if (hidden > 0 && hidden <= lost) scrollDOM.scrollTop += hidden + defaultLineHeight;
  }

  #place() {
    const { scrollTop: top, scrollLeft: left } = this.#view.scrollDOM;
    return { state: this.#view.state, top, left };
  }

  #scroll({ top, left }) {
    Object.assign(this.#view.scrollDOM, { scrollTop: top, scrollLeft: left });
  }

  #keep(path) {
    this.#kept.delete(path);
    this.#kept.set(path, this.#place());
    if (this.#kept.size > MOST_KEPT) this.#kept.delete(this.#kept.keys().next().value);
  }

  #state(shown) {
    return EditorState.create({
      doc: shown.text,
      extensions: [
        Prec.high(keymap.of(this.#commands())),
        lineNumbers(),
        highlightActiveLineGutter(),
        highlightSpecialChars(),
        history(),
        codeFolding(),
        foldGutter(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        typedOver,
        highlightSelectionMatches(),
        search({ top: true }),
        findings(),
        meanings(),
        pinned(),
        this.#language.of(this.#languageOf(shown)),
        this.#access.of(accessOf(shown)),
        keymap.of([...closeBracketsKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, ...defaultKeymap, { key: "Tab", run: takeEntry }, indentWithTab]),
        look,
        EditorView.updateListener.of((update) => {
          if (update.docChanged) this.#tell("change");
        }),
      ],
    });
  }

  #commands() {
    const telling = (name) => () => this.#tell(name) || true;
    return [
      { key: "Mod-Enter", run: telling("run") },
      { key: "Mod-s", run: telling("save"), preventDefault: true },
      { key: "Shift-Alt-f", run: telling("format"), preventDefault: true },
    ];
  }

  #tell(name) {
    this.dispatchEvent(new CustomEvent(name, { bubbles: true, composed: true }));
  }

  #languageOf({ dialect = "postgresql", language }) {
    if (language === "yaml") return yaml();
    return [sql(dialect), sqlCompletion(() => this.#knowledge, lexerOf(dialect))];
  }

  async #loadYaml(shown) {
    const { completeYaml } = await load("editor_yaml.js");
    if (this.#shown !== shown) return;
    const source = (context) => completeYaml(context, this.#knowledge);
    this.#view.dispatch({ effects: this.#language.reconfigure([yaml(), completionFrom(source)]) });
  }
}

/** Accepts the selected entry. A list that has just opened accepts nothing yet, but then Tab does not indent the line below it. */
const takeEntry = (view) => acceptCompletion(view) || completionStatus(view.state) === "active";

function accessOf({ path, readOnly = false }) {
  const attributes = { "aria-label": path || "Editor", "aria-describedby": "help", tabindex: "0", spellcheck: "false", autocorrect: "off", autocapitalize: "off" };
  return [EditorState.readOnly.of(readOnly), EditorView.contentAttributes.of({ ...attributes, ...(readOnly ? { "aria-readonly": "true" } : {}) })];
}

customElements.define("tenantry-code", TenantryCode);
