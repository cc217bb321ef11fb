"""Runs the command: ``python -m scala40_env.cli``."""

import sys

from scala40_env.cli import main

sys.exit(main())
