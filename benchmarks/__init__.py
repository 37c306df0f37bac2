"""What is measured, and how: small comparisons (micro), a million groups (scale) and every promise (acceptance)."""
