"""The benchmarks are a package at the root of the checkout: put it on the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
