"""The trainings of the pages, once more in Python: the same data and first weights, and PyTorch to learn."""
