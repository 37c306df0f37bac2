"""The protocol of the page: requests, JSON lines and errors."""
