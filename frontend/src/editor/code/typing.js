// Typing over a selection. Chromium would keep the look of the old text with an inline style, which the policy forbids. So CodeMirror
// replaces the text instead.

import { EditorView } from "@codemirror/view";

export const typedOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { state } = view;
    const { from, to, empty } = state.selection.main;
    if (event.inputType !== "insertText" || !event.data || empty || view.composing || state.readOnly) return false;
    event.preventDefault();
    const text = event.data;
    const insert = () => state.update(state.replaceSelection(text), { userEvent: "input.type", scrollIntoView: true });
    const handled = state.facet(EditorView.inputHandler).some((handler) => handler(view, from, to, text, insert));
    if (!handled) view.dispatch(insert());
    return true;
  },
});
