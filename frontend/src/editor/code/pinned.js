// A tooltip that stays until the author types, moves the cursor, clicks into the text or presses Escape.

import { StateEffect, StateField } from "@codemirror/state";
import { EditorView, keymap, showTooltip } from "@codemirror/view";

/** @type {import("@codemirror/state").StateEffectType<import("@codemirror/view").Tooltip | null>} */
const set = StateEffect.define();

const shown = StateField.define({
  create: () => null,
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(set)) return effect.value;
    return transaction.docChanged || transaction.selection ? null : value;
  },
  provide: (field) => showTooltip.from(field),
});

const close = (view) => view.state.field(shown) !== null && pin(view, null);

/** @returns {import("@codemirror/state").Extension} */
export const pinned = () => [
  shown,
  keymap.of([{ key: "Escape", run: close }]),
  EditorView.domEventHandlers({ mousedown: (_, view) => void close(view) }),
];

/**
 * @param {import("@codemirror/view").EditorView} view
 * @param {import("@codemirror/view").Tooltip | null} tooltip
 * @returns {true}
 */
export function pin(view, tooltip) {
  view.dispatch({ effects: set.of(tooltip) });
  return true;
}
