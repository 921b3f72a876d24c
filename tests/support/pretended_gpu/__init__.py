"""A GPU that is not there: what a program would meet on CUDA, on a machine without it.

    subprocess.run([sys.executable, "-m", "pytest", "book"], env=pretended_gpu.environment())

Its tensors say that they are on cuda:0, and hold their numbers on the CPU. They refuse what CUDA's tensors
refuse, and what is computed with them is off in the last digits, as on any machine that adds up in another
order. PyTorch's C++ sees them on a device of its own, PrivateUse1, so autograd and vmap treat it as one.
"""

import os
from pathlib import Path

HERE = Path(__file__).parent


def environment() -> dict[str, str]:
    """`environment()` gives the pretended GPU to a process and to all that it starts."""
    # Python runs a file named sitecustomize, if it finds one, before anything else.
    paths = [str(HERE / "start"), str(HERE.parent), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "ATTNLAB_DEVICE": "cuda"}
