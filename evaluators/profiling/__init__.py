"""Profiles of training steps: the time of each kernel by MindSpore's profiler, told by op, layer and precision."""
