"""What the search page searches: every section of the book, in a script that no other page loads.

The sections are taken from the pages as they were built: there every formula and claim has its final form
and every section its address. Left out is what a reader is to find out (solutions, hints, the answers to
predictions), the ledger, whose claims are found in their chapters, and of what cells print all but errors. Of
code only the names are kept.

search.mjs looks for words in them. Nothing is fetched: a page opened from a folder may only load scripts.
"""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unicodedata import normalize

from bs4 import BeautifulSoup, Tag
from sphinx.application import Sphinx
from sphinx.util import logging

from _ext.contents import site_map
from _ext.javascript import NODE, bundle

logger = logging.getLogger(__name__)

# What readers ask for by names that its section does not have.
ASKED = Path(__file__).with_name("search_asked.json")

# What a cell prints for readers to open: the tree from a symptom to its cause.
TREE = ".stays-folded:has(details details)"
LEFT_OUT = (
    f".headerlink, .eqno, summary:not({TREE} summary), .prediction form, .verdict, .chart, .launch, script, "
    "style, table.ledger, "
    # the hints and answers, and the cells of solutions, which alone are folded without being of a layer
    ".answer, details:not(.cover, .tag_headline > details, .tag_measurement > details, "
    f".tag_bookkeeping > details, {TREE} details)"
)
# Of code, what is named elsewhere: nn.MultiheadAttention, a method, a class, a function, an argument.
NAME = re.compile(
    r"\b(?:torch|nn|F)(?:\.[A-Za-z]\w*)+|(?<=\.)[a-z]\w{3,}|\b[A-Z]\w*[a-z]\w*"
    r"|\b[a-z]\w*_\w+(?=\()|\b[a-z]\w{3,}(?==[^=])"
)
IMPORTS = re.compile(r"^ *(?:from|import) .*", re.MULTILINE)
COLOURED = re.compile(r'<span class="(\w{1,3})">(.*?)</span>', re.DOTALL)  # a word of code
# Comments, strings and keywords, as Pygments marks them.
NO_NAMES = {"c1", "s1", "s2", "sd", "sa", "si", "se", "k", "kn", "kc", "ow"}
PICTURE = re.compile("<svg.*?</svg>", re.DOTALL)
# Of what a cell prints, the messages of errors, which people ask for word by word.
MESSAGE = re.compile(r"Error\b|\b(?:expected|must|cannot|can't|could not)\b")
BREAK = "\v"
BLOCKS = "p, li, dt, dd, tr, summary, figcaption, div.math"
STYLED = re.compile("[\U0001d400-\U0001d7ff]")  # letters such as 𝔼, which few fonts have and nobody types
SIGNS = {"⊤": "T", "⋅": "·"}
SMALL = str.maketrans("T0123456789", "ᵀ⁰¹²³⁴⁵⁶⁷⁸⁹")
APPLIED = "\N{FUNCTION APPLICATION}"  # between tanh and what it is taken of


def readable(formula: Tag) -> str:
    """`readable(math)` is "softmax(QKᵀ / √d_k)V": a formula in one line, much as one would type it."""
    written = "".join(line(part) for part in formula.children)
    written = re.sub(rf"{APPLIED}\s*(?=[(\[])", "", written).replace(APPLIED, " ")
    return " ".join(written.split())


def line(part: Any) -> str:
    """A part of a formula: its brackets and signs stand for how MathML would have drawn it."""
    if not isinstance(part, Tag):
        plain = STYLED.sub(lambda letter: normalize("NFKC", letter[0]), part)
        return "".join(SIGNS.get(sign, sign) for sign in plain)
    inside = [line(child) for child in part.children]
    match part.name, inside:
        case "msqrt", _:
            return "√" + grouped("".join(inside))
        case "mfrac", [above, below]:
            return f"{grouped(above)} / {grouped(below)}"
        case "msub" | "munder", [base, below]:
            return f"{base}_{grouped(below)}"
        case "msup" | "mover", [base, above]:
            return base + raised(above)
        case "msubsup", [base, below, above]:
            return f"{base}_{grouped(below)}{raised(above)}"
        case "munderover", [base, below, above]:
            return f"{base}_{grouped(below)}{raised(above)} "
        case "mo", [sign] if sign in "=+−≈≤≥<>≠∝→" and part.get("form") != "prefix":
            return f" {sign} "
        case "mo", [","]:
            return ", "
        case "mspace" | "mtd" | "mtr", _:
            return "".join(inside) + " "
    return "".join(inside)


def grouped(written: str) -> str:
    """`grouped("a + b")` is "(a + b)"; a number, a letter with its index, and a root stay as they are."""
    alone = r"\d+(\.\d+)?|√?[^\W\d_](_\w+)?|[^\W\d_]+|\W"
    return written if re.fullmatch(alone, written) else f"({written.strip()})"


def raised(written: str) -> str:
    return written.translate(SMALL) if re.fullmatch(r"T|\d+", written) else f"^{grouped(written)}"


def sections(page: str) -> list[dict[str, Any]]:
    """`sections(html)[0]["title"]` is "Where am I?": what search_sections.mjs is told of each section."""
    # What a page has most of goes first: taking it apart would take longer than all the rest.
    page = page[page.index("<main") :].partition("</main>")[0]
    page = COLOURED.sub(lambda word: " " if word[1] in NO_NAMES else word[2], PICTURE.sub("", page))
    main = BeautifulSoup(page, "html.parser").main
    assert main is not None, "a page has its text in <main>"
    for part in main.select(LEFT_OUT):
        part.decompose()
    for formula in main.find_all("math"):
        formula.replace_with(readable(formula))
    # The deepest first: what is then left of a section stands in none of those below it.
    found = [taken_out(part) for part in reversed(main.find_all("section"))][::-1]
    # A heading that only others stand below says nothing that they don't.
    return [
        one for one in found if one["id"] != "solutions" and (one["text"] or one["claims"] or one["code"])
    ]


def taken_out(section: Tag) -> dict[str, Any]:
    around = section.parent
    within = around.find(["h2", "h3"], recursive=False) if around and around.name == "section" else None
    title = section.find(["h1", "h2", "h3", "h4"], recursive=False)
    assert title is not None, "a section has a title"
    found = {"id": section["id"], "title": words(title), "within": words(within) if within else ""}
    title.decompose()
    section.extract()
    claims = [
        (row["id"], words(sentence))
        for row in section.select(".claim")
        for sentence in row.select(".claim-sentence")
    ]
    return found | {"claims": claims, "code": names(section), "text": sentences(section)}


def names(section: Tag) -> str:
    """Each name in the section's code, once."""
    code = "\n".join(part.get_text() for part in section.select(".cell_input pre, .highlight-python pre"))
    return " ".join(dict.fromkeys(NAME.findall(IMPORTS.sub("", code))))


def sentences(section: Tag) -> str:
    """A line for each paragraph, item, row of a table and error; no code."""
    for printed in section.select(".cell_output pre"):
        messages = [line for line in printed.get_text().splitlines() if MESSAGE.search(line)]
        if output := printed.find_parent(class_="cell_output"):
            output.insert_before(BREAK, BREAK.join(messages), BREAK)
    for tree in section.select(f".cell_output {TREE}"):
        if output := tree.find_parent(class_="cell_output"):
            output.insert_before(tree.extract())
    for part in section.select(".cell_input, .cell_output, .highlight"):
        part.decompose()
    for row in section.find_all("tr"):
        row.string = " · ".join(words(cell) for cell in row.find_all(["td", "th"]))
    for block in section.select(BLOCKS):
        block.insert(0, BREAK)
        block.append(BREAK)
    lines = (" ".join(text.split()) for text in section.get_text().split(BREAK))
    return "\n".join(text for text in lines if text)


def words(part: Tag) -> str:
    return " ".join(part.get_text().split())


def replace_search_of_sphinx(app: Sphinx) -> None:
    """Sphinx's own index names pages, not sections."""
    app.builder.search = False  # type: ignore[attr-defined]  # the HTML builder has it


def search_page(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    yield "search", {}, "search.html"


def listed(app: Sphinx, out: Path, name: str) -> dict[str, Any]:
    """A page with its sections, and what search_sections.mjs orders pages by."""
    page = out.joinpath(f"{name}.html").read_text("utf-8")
    return {
        "address": f"{name}.html",
        "is_chapter": app.env.doc2path(name).endswith(".ipynb"),
        "is_ledger": 'class="ledger' in page,
        "sections": sections(page),
    }


def in_a_line(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def asked(index: list[dict[str, Any]]) -> dict[str, list[str]]:
    """What people type, and the sections that answer it: none for what is nowhere in the book."""
    there = {f"{page['address']}#{section['id']}" for page in index for section in page["sections"]}
    answers: dict[str, list[str]] = json.loads(ASKED.read_text("utf-8"))
    for typed, addresses in answers.items():
        for address in {*addresses} - there:
            logger.warning(f"{ASKED.name}: {typed!r} leads to {address}, where no section is")
    return answers


def finish(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html":
        return
    out = Path(app.outdir)
    index = [listed(app, out, name) for name in site_map(app.env) if name in app.env.found_docs]
    told = {"sections": index, "asked": asked(index)}
    command = [NODE, Path(__file__).with_name("search_index.mjs")]
    given = in_a_line(told).encode()
    made = subprocess.run(command, input=given, stdout=subprocess.PIPE, check=True).stdout.decode()
    parts = {"sectionIndex": made} | {name: in_a_line(part) for name, part in told.items()}
    script = "".join(f"window.{name} = {value};\n" for name, value in parts.items())
    out.joinpath("_static/sections.js").write_text(script, "utf-8")
    bundle(Path(__file__).with_name("search.mjs"), out / "_static/search.js")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", replace_search_of_sphinx)
    app.connect("html-collect-pages", search_page)
    # Before symbols.py, which asks what characters the site has to draw.
    app.connect("build-finished", finish, priority=400)
    return {"parallel_read_safe": True}
