"""The suites that come with the pond: NAME/VERSION/{suite.json,scenarios.parquet}."""
