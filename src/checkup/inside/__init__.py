"""What is told by looking inside: at layers, weights, gradients. Each test says in words what it saw."""
