"""The protocol between the page's script and the server: requests, JSON lines and errors."""
