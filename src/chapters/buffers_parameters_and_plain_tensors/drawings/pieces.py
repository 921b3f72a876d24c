"""What several of the drawings are made of."""

COLOURS = {"parameter": "blue", "frozen": "blue", "buffer": "green", "unsaved": "green", "plain": "orange"}
