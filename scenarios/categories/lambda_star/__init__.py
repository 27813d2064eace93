"""Categories of Λ*, one module each."""
