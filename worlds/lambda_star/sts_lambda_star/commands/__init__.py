"""Actions of `sts lambda-star`, one module each."""
