"""How a model learns: batches, the loop, what it takes down, and many seeds at once."""
