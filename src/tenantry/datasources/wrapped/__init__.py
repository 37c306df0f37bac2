"""SQL around the author's select: its columns, its plan, its reduced rows."""
