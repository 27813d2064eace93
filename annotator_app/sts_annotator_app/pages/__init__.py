"""Pages of the application, one module each."""
