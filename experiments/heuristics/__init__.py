"""Policies without a search: what rules suggest from one float32 run, and a list widened step by step."""
