"""The pages around the chapters: what they list and say is what the book has and its code does."""

import csv
import re
from collections.abc import Callable

import pytest
from bs4 import Tag
from tiers import left_to

from _ext import ledger, topics
from _ext.catalogue import SHOWN
from attnlab.corpora import grammar
from attnlab.corpora.grammar_check import English, Lingo, fault
from attnlab.runtime import generator
from bookkit.catalogue import catalogue
from tools.chapters import notebooks, stamps
from tools.chapters.notebooks import BOOK

CHAPTERS = notebooks.chapters()

# ---- for teachers ----


@pytest.fixture(scope="module")
def exercises(soup: Callable) -> dict[str, Tag]:
    """What is folded under each line. The page is long, and is gone through once."""
    return {fold.summary.get_text(): fold for fold in soup("for-teachers.html").main.select("details")}


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.exercise)
def test_an_exercise_is_listed_with_its_mistakes(exercises, soup, entry):
    words = f"difficulty {entry.difficulty}, {entry.minutes} minutes, {len(entry.mistakes)} mistakes"
    listed = exercises[f"{entry.exercise}: {words}"]
    # Sphinx curls quotes.
    terms, sentences = (
        [each.get_text().replace("’", "'").strip() for each in listed.select(tag)] for tag in ("dt", "dd")
    )
    assert terms == list(entry.mistakes)[:SHOWN]
    assert sentences == [text.replace("`", "") for text in entry.mistakes.values()][:SHOWN]
    more = len(entry.mistakes) - SHOWN
    assert (f"… and {more} more." in listed.get_text()) == (more > 0)
    page = f'a[href^="{entry.chapter.replace("_", "-")}.html"]'
    assert soup("for-teachers.html").main.select_one(page)


# ---- the ledger ----


def seen(claim: Tag) -> tuple[str, str, str]:
    """The sentence, what is claimed and what was measured, as the page shows them."""
    words = [claim.select_one(f".claim-{part}") for part in ("sentence", "bound", "measured")]
    # What is claimed to be true is not measured.
    sentence, bound, measured = (word.get_text() if word else "true" for word in words)
    bound = bound.removeprefix("claimed ").replace("\N{NO-BREAK SPACE}", " ")
    return sentence, bound, measured.removeprefix("measured ")


@pytest.mark.parametrize(
    "chapter",
    left_to(pytest.mark.thorough, [path.stem for path in CHAPTERS], but=[path.stem for path in CHAPTERS[:2]]),
)
def test_every_claim_of_a_chapter_is_in_the_ledger_with_the_address_of_its_row(soup, site, chapter):
    with (site / ledger.FILE).open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["chapter"] == chapter]
    shown = soup(f"{chapter}.html").select(".claim")
    assert [(row["claim"], row["claimed"], row["measured"]) for row in rows] == [seen(row) for row in shown]
    assert [row["address"] for row in rows] == [f"{chapter}.html#{row['id']}" for row in shown]
    listed = soup("how-this-book-checks-itself.html").select_one(f'.ledger a[href="{chapter}.html"]')
    assert listed.find_parent("td").find_next_sibling("td").get_text() == str(len(rows))


# ---- topics ----


def test_the_table_of_topics_holds_every_label_in_the_book_and_leads_to_its_places(soup, site):
    """A line of the table that no cell carries stops the build; a cell that no line lists stops here."""
    listed = set()
    for row in soup("how-this-book-checks-itself.html").select("table.topics tbody tr"):
        label, about, where = row.select("td")
        listed.add(label.get_text(strip=True))
        assert about.get_text(strip=True)
        assert where.select("a"), label
        for link in where.select("a"):
            page, _, anchor = link["href"].partition("#")
            assert f'id="{anchor}"' in (site / page).read_text("utf-8"), f"{label}: it leads nowhere"
    carried = {
        label
        for page in [*BOOK.glob("*.ipynb"), *BOOK.glob("*.md")]
        for label, _ in topics.places(page)
        if re.fullmatch(r"[A-Z]\d+", label)
    }
    assert listed == carried


# ---- glossary, reading list, notation ----

# What the reading list must hold.
READINGS = [
    "The Illustrated Transformer",
    "The Narrated Transformer",
    "Transformers from Scratch",
    "The Annotated Transformer",
    "Visualizing A Neural Machine Translation Model",
    "Transformer: A Novel Neural Network Architecture",
    "arxiv.org/abs/1706.03762",
    "arxiv.org/abs/1409.0473",
    "arxiv.org/abs/1508.04025",
    "arxiv.org/abs/1703.03906",
    "An Introduction to Attention",
    "Attention in Neural Networks and How to Use It",
    "The Attention Mechanism from Scratch",
    "tensorflow.org/text/tutorials/nmt_with_attention",
    "`register_buffer` and `register_parameter`",
    "Why Batch Normalization",
]


def read(page: str) -> str:
    return (BOOK / f"{page}.md").read_text("utf-8")


def glossary() -> dict[str, str]:
    """Each term with its definition."""
    body = read("glossary").partition("<!-- {glossary} -->\n")[2].partition("<!-- end -->")[0]
    entries = [entry.partition("\n") for entry in body.strip().split("\n\n")]
    return {term.strip("*"): " ".join(definition.split()) for term, _, definition in entries}


def test_the_glossary_has_each_term_once_and_in_order():
    terms = re.findall(r"^\*\*(.+)\*\*$", read("glossary"), re.MULTILINE)
    assert len(terms) > 50
    assert terms == sorted(set(terms), key=str.lower)
    assert terms == list(glossary())


@pytest.mark.parametrize(("term", "definition"), glossary().items())
def test_a_definition_is_a_sentence_or_two(term, definition):
    without_chapter = re.sub(r"\s*→\s\[.*?\]\([\w-]+\.(?:ipynb|md)\)$", "", definition)
    assert without_chapter[0].isupper() or without_chapter.startswith(("$", "`"))
    assert without_chapter.endswith((".", ".)"))
    assert len(without_chapter) < 350


@pytest.mark.parametrize("reading", READINGS)
def test_the_reading_list_holds(reading):
    entries = re.findall(r"^- .+?(?=\n- |\n\n|\Z)", read("reading-list"), re.MULTILINE | re.DOTALL)
    (entry,) = (entry for entry in entries if reading in entry.partition("). ")[0] + entry.partition(")")[0])
    assert re.search(r"\b(Read|Watch) ", entry), "say what to read it for"
    assert "→" in entry, "say after which chapter"


def test_the_notation_names_every_shape_of_the_package():
    shapes = re.findall(
        r"^(\w+): TypeAlias", (stamps.source() / "attnlab/shapes.py").read_text("utf-8"), re.MULTILINE
    )
    assert shapes
    assert not [name for name in shapes if f"`{name}`" not in read("notation")]


# ---- English and Lingo ----

GRAMMAR = (BOOK / "english-and-lingo.md").read_text("utf-8")


def test_words_are_counted_in_all_their_forms():
    english, lingo = map(int, re.search(r"English has (\d+)\s+words and Lingo (\d+)", GRAMMAR).groups())
    assert (english, lingo) == (len(English.forms), len(Lingo.forms))


def test_every_word_of_the_table_is_in_its_language():
    rows = re.findall(r"^\| [^|]+ \| ([^|]+) \| ([^|]+) \|$", GRAMMAR, re.MULTILINE)
    assert len(rows) == 9
    for row in rows:
        for words, language in zip(row, (English, Lingo), strict=True):
            said = words.replace("**", "").replace(",", "").split()
            assert [word for word in said if word not in language.forms] == []


def test_examples_say_what_the_checker_says():
    examples = re.findall(r'^fault\("(.+)"\.split\(\), (\w+)\) +# "(.*?)"', GRAMMAR, re.MULTILINE)
    assert len(examples) == 3
    for words, language, said in examples:
        assert fault(words.split(), {"English": English, "Lingo": Lingo}[language]) == said


def test_the_example_is_aligned_as_drawn():
    english, lingo, places = (
        re.search(rf"^{name} +(.+)$", GRAMMAR, re.MULTILINE)[1] for name in ("English", "Lingo", "          ")
    )
    assert fault(english.split(), English) == fault(lingo.split(), Lingo) == ""
    drawn = re.search(r"^Lingo +.+\n +(.+)$", GRAMMAR, re.MULTILINE)[1]
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
    few, many = (sum(map(test, lengths)) / 4000 for test in ((6).__ge__, (20).__lt__))
    for words, holds in {
        "in 87.6 to 89.3 % of sentences lines cross": 87.6 - 0.05 <= crossing <= 89.3 + 0.05,
        "The shortest have 3 words, the longest of a draw 37 to 50": lengths[0] == 3
        and 37 <= lengths[-1] <= 50,
        "half have at most 10 or 11": lengths[1999] in (10, 11),
        "22 to 24 % have six or fewer, 10 % more than twenty": 0.215 <= few <= 0.245
        and 0.085 <= many <= 0.115,
    }.items():
        assert words in " ".join(GRAMMAR.split())
        assert holds, words
