"""Background jobs: tasks, worker processes and timeouts of third-party code."""
