"""The packaged suites: NAME/VERSION/{suite.json,scenarios.parquet}."""
