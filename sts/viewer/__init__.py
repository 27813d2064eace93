"""Episode viewer: payloads, scripts, styles and cached frames."""
