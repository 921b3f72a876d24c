"""`python -m tools.grade hand-ins`: apart, since hand-ins' processes import grader.py by its name."""

import sys

from tools.grade.grader import main

if __name__ == "__main__":
    sys.exit(main())
