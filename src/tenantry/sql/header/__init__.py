"""The header of a query file, and the YAML that it is written in."""
