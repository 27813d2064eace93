"""What a paper needs of a report: figures, tables, a paragraph on methods, how to repeat it.

Figures 3, 7, 8 and 9 and Table 1 are those of Abramson et al. 2022, a module a figure; each says
what the paper's caption says of it, and where it departs from that.
"""
