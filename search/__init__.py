"""Which policy to try next, and which of those tried is worth taking.

Import from the modules: `front` and `choice` are light, `study` brings in Optuna.
"""
