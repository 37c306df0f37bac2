"""Lists of functions that cannot read a table, in lower case. A dialect has a list if we have checked its functions on
an engine."""
