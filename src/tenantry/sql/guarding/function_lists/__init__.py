"""The functions of each engine that cannot read a table, in lower case: one module for each dialect with an engine."""
