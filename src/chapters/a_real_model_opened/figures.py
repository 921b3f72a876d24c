"""The figures, described by what is drawn."""
