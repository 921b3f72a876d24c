"""The code that the chapters build, in rooms. pyproject.toml says which room may import from which."""
