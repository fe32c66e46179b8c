"""Measures how fast a policy trains against float32: two processes, step by step in turn."""
