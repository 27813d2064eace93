"""Estimators, one a file: from arrays of outcomes to numbers with their intervals."""
