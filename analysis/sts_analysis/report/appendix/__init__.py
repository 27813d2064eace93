"""The sections of the appendix, built like those of the main page."""

ORDER: tuple[str, ...] = ()
"""The sections in the order of the page."""
