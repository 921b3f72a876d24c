"""What a page has beyond its text: what it loads, its description, and the files around the pages."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import vl_convert
from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.writers.html5 import HTML5Translator

from _ext.contents import parts
from _ext.javascript import NODE_MODULES, small

# The scripts that only some pages need, each with what such a page has.
SCRIPTS = {
    "predict.js": 'class="prediction',
    "charts.js": 'class="chart"',
    "playground.js": 'class="(playground|training)"',
    "tour.js": 'class="tour"',
    "training.js": 'class="training"',
}
FONTS = [f"source-sans-3-latin-{kind}.woff2" for kind in ("400-normal", "600-normal", "400-italic")]
# What Pygments marks in code and book.css has no colour for: two of five elements of a page.
UNCOLOURED = re.compile(r'<span class="(?:n|p|o|w|nb|bp|nn|ne|nd|nv|vm)">([^<]*)</span>')
# Code within a sentence, as docutils marks it: with a class and a span that no style of ours asks for.
WORDS_OF_CODE = re.compile(r'<code class="docutils literal notranslate">(.*?)</code>', re.DOTALL)
WORD = re.compile(r'<span class="pre">(.*?)</span>', re.DOTALL)
# A sign beside each heading, for who copies an address: it would be read aloud as a part of its name.
HEADER_LINK = '<a class="headerlink"'
SITEMAP = """<?xml version="1.0" encoding="utf-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
{}</urlset>
"""
# What no page asks for: 6 MB of the book theme's scripts, icons, styles and translations; Sphinx's search.
UNUSED = ["locales", "scripts", "styles", "vendor"]
UNUSED_SCRIPTS = ["doctools", "documentation_options", "language_data", "searchtools", "sphinx_highlight"]


def choose_address(app: Sphinx, config: Config) -> None:
    """github.com/ada/fork is published at ada.github.io/fork, unless _config.yml has another `baseurl`."""
    owner, name = config.html_theme_options["repository_url"].rstrip("/").split("/")[-2:]
    config.html_baseurl = config.html_baseurl or f"https://{owner}.github.io/{name}/"


def describe(
    app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Tell the layout what this page needs."""
    body = context.get("body", "")
    body = WORDS_OF_CODE.sub(lambda code: "<code>" + WORD.sub(r"\1", code[1]) + "</code>", body)
    body = body.replace(HEADER_LINK, HEADER_LINK + ' aria-hidden="true" tabindex="-1"')
    context["body"] = UNCOLOURED.sub(r"\1", body)
    context["fonts"] = FONTS + ["formulas.woff"] * ("<math" in body)
    context["scripts"] = [script for script, mark in SCRIPTS.items() if re.search(mark, body)]
    context["book_title"] = app.config.html_title
    context["description"] = (doctree and description(doctree)) or app.config.html_title
    context["site_address"] = app.config.html_baseurl
    context["place"] = place(app.env, pagename)


def place(env: BuildEnvironment, page: str) -> str:
    """`place(env, "the-transformer")` is "Chapter 15 of 26 · Attention at work", and "" for an appendix."""
    chapters = [(name, caption) for caption, names in parts(env) for name in names]
    for number, (name, caption) in enumerate(chapters, 1):
        if name == page:
            return f"Chapter {number} of {len(chapters)} · {caption}"
    return ""


def description(doctree: nodes.document) -> str:
    """The page's first sentences, cut at a word to what search engines show."""
    paragraphs = (" ".join(paragraph.astext().split()) for paragraph in doctree.findall(nodes.paragraph))
    text = next((text for text in paragraphs if len(text) > 60 and text.endswith(".")), "")
    return text if len(text) <= 160 else text[:157].rpartition(" ")[0] + "…"


def open_citation(translator: HTML5Translator, node: nodes.citation) -> None:
    """As docutils does it, less two roles: one is withdrawn, the other wants children that aren't there."""
    translator.body.append(translator.starttag(node, "div", CLASS="citation"))


def close_citation(translator: HTML5Translator, node: nodes.citation) -> None:
    translator.body.append("</div>\n")


def open_fold(translator: HTML5Translator, node: HideCodeCellNode) -> None:
    translator.body.append(f"<details><summary>{node['prompt_show']}</summary>\n")


def close_fold(translator: HTML5Translator, node: HideCodeCellNode) -> None:
    translator.body.append("</details>\n")


def not_found(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    yield "404", {"root_address": urlsplit(app.config.html_baseurl).path}, "404.html"


def finish(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    static = out / "_static"
    for folder in UNUSED:
        shutil.rmtree(static / folder, ignore_errors=True)
    for script in UNUSED_SCRIPTS:
        static.joinpath(f"{script}.js").unlink(missing_ok=True)
    for file in [*SCRIPTS, "book.js", "book.css"]:
        read = static.joinpath(file).read_text("utf-8")
        static.joinpath(file).write_text(small(read, file.rpartition(".")[2]), "utf-8")
    for font in FONTS:
        shutil.copy(NODE_MODULES / "@fontsource/source-sans-3/files" / font, static)
    # Social networks show no SVG.
    picture = vl_convert.svg_to_png(static.joinpath("social.svg").read_text("utf-8"))
    static.joinpath("social.png").write_bytes(picture)
    base = app.config.html_baseurl
    pages = (base + app.builder.get_target_uri(name) for name in sorted(app.env.found_docs))
    addresses = "".join(f"<url><loc>{page}</loc></url>\n" for page in pages)
    out.joinpath("sitemap.xml").write_text(SITEMAP.format(addresses))
    out.joinpath("robots.txt").write_text(f"User-agent: *\nAllow: /\nSitemap: {base}sitemap.xml\n")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_node(nodes.citation, override=True, html=(open_citation, close_citation))
    app.add_node(HideCodeCellNode, override=True, html=(open_fold, close_fold))
    app.connect("config-inited", choose_address, priority=900)  # when repository.py has found the repository
    app.connect("html-page-context", describe)
    app.connect("html-collect-pages", not_found)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True}
