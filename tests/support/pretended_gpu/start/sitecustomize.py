"""Where this folder is on PYTHONPATH, Python has the pretended GPU from its start."""

from pretended_gpu.installation import install

install()
