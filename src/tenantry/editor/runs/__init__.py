from tenantry.editor.runs.run_routes import run_routes as run_routes
