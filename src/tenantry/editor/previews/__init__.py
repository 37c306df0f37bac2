from tenantry.editor.previews.preview_routes import preview_routes as preview_routes
