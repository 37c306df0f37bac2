from tenantry.editor.language.language_routes import language_routes as language_routes
