"""Binding: a tree to the function from variables to SQL and parameters."""
