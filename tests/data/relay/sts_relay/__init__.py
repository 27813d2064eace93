"""Tasks that are handed on in files, as a queue of a cluster would hand them."""
