"""The rows of a chart: which are read, and how they are reduced to what the page can draw."""
