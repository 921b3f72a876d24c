"""The page “English and Lingo” says what the grammar does: its words, table, examples and numbers."""

import re
from pathlib import Path

import pytest

import attnlab
from attnlab.corpora import grammar
from attnlab.corpora.grammar_check import English, Lingo, fault
from attnlab.runtime import generator

PAGE = (Path(attnlab.__file__).parents[1] / "english-and-lingo.md").read_text("utf-8")


def test_words_are_counted_in_all_their_forms():
    english, lingo = map(int, re.search(r"English has (\d+)\s+words and Lingo (\d+)", PAGE).groups())
    assert (english, lingo) == (len(English.forms), len(Lingo.forms))


def test_every_word_of_the_table_is_in_its_language():
    rows = re.findall(r"^\| [^|]+ \| ([^|]+) \| ([^|]+) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 9
    for row in rows:
        for words, language in zip(row, (English, Lingo), strict=True):
            said = words.replace("**", "").replace(",", "").split()
            assert [word for word in said if word not in language.forms] == []


def test_examples_say_what_the_checker_says():
    examples = re.findall(r'^fault\("(.+)"\.split\(\), (\w+)\) +# "(.*?)"', PAGE, re.MULTILINE)
    assert len(examples) == 3
    for words, language, said in examples:
        assert fault(words.split(), {"English": English, "Lingo": Lingo}[language]) == said


def test_the_example_is_aligned_as_drawn():
    english, lingo, places = (
        re.search(rf"^{name} +(.+)$", PAGE, re.MULTILINE)[1] for name in ("English", "Lingo", "          ")
    )
    assert fault(english.split(), English) == fault(lingo.split(), Lingo) == ""
    drawn = re.search(r"^Lingo +.+\n +(.+)$", PAGE, re.MULTILINE)[1]
    per_word = [[int(place) for place in each.split(", ")] for each in re.split(r"\s{2,}", drawn)]
    assert places.split() == [str(place) for place in range(len(english.split()))]
    for words, others in zip(lingo.split(), per_word, strict=True):
        for place in others:
            stem = (grammar.NOUNS | grammar.ADJECTIVES | grammar.DETERMINERS).get(
                english.split()[place].removesuffix("s"), words
            )
            assert words.startswith(stem.strip("-"))


@pytest.mark.parametrize("seed", [0, 7])
def test_shares_are_as_told(seed):
    pairs = grammar.pairs(4000, generator(seed))
    crossing = 100 * sum(pair.crosses for pair in pairs) / len(pairs)
    lengths = sorted(len(pair.english) for pair in pairs)
    told = " ".join(PAGE.split())
    assert "in 87.6 to 89.3 % of sentences lines cross" in told
    assert 87.6 - 0.05 <= crossing <= 89.3 + 0.05
    assert "The shortest have 3 words, the longest of a draw 37 to 50" in told
    assert lengths[0] == 3
    assert 37 <= lengths[-1] <= 50
    assert "half have at most 10 or 11" in told
    assert lengths[1999] in (10, 11)
    assert "22 to 24 % have six or fewer, 10 % more than twenty" in told
    assert 0.215 <= sum(length <= 6 for length in lengths) / 4000 <= 0.245
    assert 0.085 <= sum(length > 20 for length in lengths) / 4000 <= 0.115
