"""Benchmarks: figures that halfwise must reach, as ratios within one run; `python -m benchmarks` lists them."""
