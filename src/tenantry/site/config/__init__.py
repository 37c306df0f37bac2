"""The site configuration file: its model, its tolerant reader, its diagnostics and its JSON Schemas."""
