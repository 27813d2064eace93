"""The report: its schema, what builds it, and the page, figures and tables made of it."""
