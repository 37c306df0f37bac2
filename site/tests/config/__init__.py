"""The site configuration file: reading, checking, schemas and reports."""
