"""Training under policies that change: by schedule, and where a layer turns out to need a safer precision.

Import from the modules: most of them bring in mindspore.
"""
