"""Binding: compiles a template's tree to a function that takes variables and returns SQL and parameters."""
