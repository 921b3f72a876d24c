"""`python -m tools.grade hand-ins`: apart, since the hand-ins' processes import grader.py ahead."""

import sys

from tools.grade.grader import main

if __name__ == "__main__":
    sys.exit(main())
