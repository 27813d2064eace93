"""Web server around the pages: its socket, routes, headers and limits."""
