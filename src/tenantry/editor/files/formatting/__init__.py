from tenantry.editor.files.formatting.layout import format_query as format_query
