"""The scorecard: every promise as a figure, measured against real engines and real processes."""
