"""Sentences with one thing changed in them: some become wrong, some stay right."""

import random
from collections.abc import Sequence


def mutated(sentences: Sequence[Sequence[str]], words: Sequence[str], count: int) -> list[list[str]]:
    """A word left out, put in, exchanged, in its other number, at its neighbour's place; or all behind it."""
    draw = random.Random(0)
    changed = []
    for _ in range(count):
        each = [*draw.choice(sentences)]
        place = draw.randrange(len(each))
        match draw.randrange(6):
            case 0:
                del each[place]
            case 1:
                each.insert(place, draw.choice(words))
            case 2:
                each[place] = draw.choice(words)
            case 3:
                word = each[place]
                other = word[:-1] if word.endswith("s") else f"{word}s"
                each[place] = other if other in words else word
            case 4:
                each[place : place + 2] = reversed(each[place : place + 2])
            case _:
                del each[place:]
        changed.append(each)
    return changed
