"""Binding: values become bound parameters, and the tree becomes the function that gives text and parameters."""
