"""Tables, intervals, ranking, correlation and reports."""
