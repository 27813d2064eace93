"""Rooms and websocket of live sessions."""
