"""The HTTP server of tenantry serve: the app, its settings, workers, connections and metrics."""
