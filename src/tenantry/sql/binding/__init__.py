"""Binding: compiles a tree to a function that turns variables into SQL and parameters."""
