export const { ChangeSet, Compartment, EditorSelection, EditorState, Facet, Prec, RangeSet, RangeSetBuilder, StateEffect, StateField, Text } =
  customElements.get("tenantry-code").shared.state;
