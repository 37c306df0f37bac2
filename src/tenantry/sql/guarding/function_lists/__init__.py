"""For each dialect with an engine, a module with the functions that cannot read a table, in lower case."""
