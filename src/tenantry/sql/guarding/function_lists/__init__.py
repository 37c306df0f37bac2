"""Lists, in lower case, of functions that cannot read a table. A dialect has a list if we have checked its functions on
an engine."""
