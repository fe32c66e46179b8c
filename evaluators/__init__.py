"""What a policy is worth: trial processes, training, timing, diagnosis, evidence and prices.

Import from the modules: most of them bring in mindspore.
"""
