"""The prose of the book's small sample of English, in sentences."""

from attnlab.corpora.text import WIKITEXT2, folder


def sentences() -> list[list[str]]:
    """`sentences()[0]` is a list of words in small letters; figures and single words are left out."""
    text = (folder(WIKITEXT2, sample=True) / "wiki.train.tokens").read_text(encoding="utf-8").lower()
    for end in ".:;?!":
        text = text.replace(f" {end} ", "\n")
    lines = [[word for word in line.split() if word.isalpha()] for line in text.split("\n")]
    return [words for words in lines if len(words) > 1]
