"""The visible rows of line charts."""
