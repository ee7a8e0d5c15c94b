"""Speed as ratios: the same work by several libraries, in turns, in one run. `python -m benchmarks --help`."""
