"""The audit trail: its entries, their seals, and notifying listeners of each change."""
