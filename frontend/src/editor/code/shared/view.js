export const { Decoration, EditorView, GutterMarker, ViewPlugin, WidgetType, gutter, lineNumbers } = customElements.get("tenantry-code").shared.view;
