"""Defences that are broken on purpose, one at a time, in a copy of the tree: the tests must notice each."""
