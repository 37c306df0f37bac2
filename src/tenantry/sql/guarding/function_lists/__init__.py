"""The functions of each engine that cannot read a table. ``scripts/safe_functions.py`` writes these modules."""
