"""What shows an episode: its payload, the page's scripts and styles, and pictures that are kept."""
