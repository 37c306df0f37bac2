"""Guarded tables: queries see only the rows of their group, whatever their authors wrote."""
