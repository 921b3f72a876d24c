"""The sentence that the chapter follows: the old king's hungry red dogs will hide."""

from attnlab.corpora.grammar import entry, joined

_KING = joined([entry("the", "lo"), entry("old", "veco"), entry("king", "rego")], [0, 2, 1])
_DOGS = joined([entry("hungry", "famelos"), entry("red", "rubos"), entry("dogs", "hundos")], [2, 1, 0])
_BOTH = joined([_KING, entry("'s", "de"), _DOGS], [2, 1, 0])
SENTENCE = joined([_BOTH, entry("will hide", "se celeran")], [0, 1])
