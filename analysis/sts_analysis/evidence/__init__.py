"""The clips behind a report, as a folder that opens from a disk without a server."""
