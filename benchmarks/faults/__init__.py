"""Whole studies under faults: processes that are killed, workers on several machines, a storage at its limit."""
