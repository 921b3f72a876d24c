"""The code that the chapters build: the model, what it reads (`corpora`), how it learns (`training`)."""
