"""Storage and assignment of human judgements of continuations.

Use it through `store.AnnotationStore`. Only this package contains SQL, and it knows nothing of
browsers.
"""
