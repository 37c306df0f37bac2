"""The proof that no value changes the structure of a statement: generated templates, hostile values, real engines."""
