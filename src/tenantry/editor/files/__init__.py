from tenantry.editor.files.file_routes import file_routes as file_routes
