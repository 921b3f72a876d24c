"""What reads as prose in JupyterLab is a citation, a numbered equation or a directive on the site."""

import re

import pytest
from bs4 import BeautifulSoup

from _ext.plain_markdown import Citations, directives, numbered
from tools.chapters import notebooks

ATTENTION = "https://arxiv.org/abs/1706.03762"
SCORES = "https://arxiv.org/abs/1508.04025"


@pytest.fixture(scope="module")
def cite():
    return Citations(notebooks.BOOK / "references.bib").made


@pytest.mark.parametrize(
    ("plain", "made"),
    [
        (f"[Vaswani et al. (2017)]({ATTENTION})", "{cite:t}`vaswani2017attention`"),
        (f"So ([Vaswani et al., 2017]({ATTENTION})).", "So {cite}`vaswani2017attention`."),
        (
            f"([Vaswani et al., 2017]({ATTENTION}); [Luong et al., 2015]({SCORES}))",
            "{cite}`vaswani2017attention,luong2015effective`",
        ),
        (f"[**Attention Is All You Need**]({ATTENTION})", f"[**Attention Is All You Need**]({ATTENTION})"),
        (f"(see [the paper]({ATTENTION}))", f"(see [the paper]({ATTENTION}))"),
        ("[Text](text-as-tensors.ipynb)", "[Text](text-as-tensors.ipynb)"),
    ],
)
def test_a_link_that_reads_like_a_citation_becomes_one(cite, plain, made):
    assert cite(plain) == made


@pytest.mark.parametrize(
    ("plain", "words"),
    [
        (f"[Vaswani et al. (2018)]({ATTENTION})", "the bibliography has 'Vaswani et al. \\(2017\\)'"),
        (f"[Vaswani (2017)]({ATTENTION})", "the bibliography has 'Vaswani et al. \\(2017\\)'"),
        (f"([Luong et al., 2015]({ATTENTION}))", "the bibliography has 'Vaswani et al., 2017'"),
        ("[Nobody (2017)](https://example.org/paper)", "the bibliography has no such address"),
    ],
)
def test_a_citation_that_is_not_in_the_bibliography_is_told(cite, plain, words):
    with pytest.raises(ValueError, match=words):
        cite(plain)


def test_one_two_and_more_authors():
    written = Citations(notebooks.BOOK / "references.bib").written.values()
    textual = {form for form, _ in written}
    assert {"Prechelt (1998)", "Jain and Wallace (2019)", "Press et al. (2022)"} <= textual


def test_formulas_are_labelled_in_order_and_mentions_link_to_them():
    count = numbered("a-chapter")
    first = count("$$\nx^2\n\\tag{1}\n$$\n\nBy equation (1) it is so.")
    assert first == "$$\nx^2\n$$ (a-chapter-1)\n\nBy equation {eq}`a-chapter-1` it is so."
    assert count("$$ y \\tag{2} $$") == "$$ y $$ (a-chapter-2)"
    assert count("$$ z $$ and $5$") == "$$ z $$ and $5$"
    elsewhere = count("equation (3) of [Why?](why-not.ipynb)")
    assert elsewhere == "equation {eq}`why-not-3` of [Why?](why-not.ipynb)"
    with pytest.raises(ValueError, match=r"tag\{2\} is equation 3"):
        count("$$ y \\tag{2} $$")


def test_a_comment_holds_a_directive():
    page = (
        "<!-- {container} doors -->\n<!-- {door} here -->\nRead.\n<!-- end -->\n<!-- end -->\n<!-- a note -->"
    )
    assert directives(page).split("\n") == [
        "`````````{container} doors",
        "````````{door} here",
        "Read.",
        "````````",
        "`````````",
        "<!-- a note -->",
    ]


@pytest.mark.parametrize("page", ["<!-- {glossary} -->\n", "<!-- end -->\n"])
def test_a_directive_without_its_end_is_told(page):
    with pytest.raises(ValueError, match="they do not pair"):
        directives(page)


RAW = [r"\{[\w:-]+\}`", r"^\s*[`:]{3,}\{", r"\(eq-", r"^\(\S+\)=$"]


@pytest.mark.parametrize(
    "path", [*notebooks.chapters(), *notebooks.BOOK.glob("*.md")], ids=lambda path: path.name
)
def test_no_page_shows_raw_markup_where_sphinx_is_not(path):
    if path.suffix == ".md":
        texts = [path.read_text(encoding="utf-8")]
    else:
        texts = [cell.source for cell in notebooks.read(path).cells if cell.cell_type == "markdown"]
    for text in texts:
        for pattern in RAW:
            assert not re.search(pattern, text, re.MULTILINE), text


def test_on_the_site_they_are_citations_and_numbered_equations(site):
    page = BeautifulSoup((site / "why-divide-by-root-dk.html").read_text("utf-8"), "html.parser").main
    cited = {
        citation.get_text() for citation in page.select('p:has(a[href^="references.html#"]) .bibtex-citation')
    }
    assert {"(Vaswani et al., 2017)", "Vaswani et al. (2017)"} <= cited
    numbers = [number.get_text().rstrip("#") for number in page.select(".eqno")]
    assert numbers == ["(1)", "(2)", "(3)"]
    links = {link["href"]: link.get_text() for link in page.select('a[href*="#equation-"]:not(.headerlink)')}
    assert links["#equation-why-divide-by-root-dk-1"] == "(1)"
    assert links["what-is-attention.html#equation-what-is-attention-1"] == "(1)"
    assert not page.select(f'a[href="{ATTENTION}"]')
