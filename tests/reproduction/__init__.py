"""What made the packaged suites, and what checks figures that the docs state.

Nothing here is installed; run it from a clone. `tests.reproduction.suites` builds the packaged
suites and measures their gates. `tests.reproduction.published_program` compares behaviours with
episodes that the published program of Λ* recorded.
"""
