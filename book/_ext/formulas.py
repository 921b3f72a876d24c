"""Formulas become MathML while the site is built, so that a page needs no script to show them.

Temml converts them, in one Node process for the whole build. A formula that it can't convert is an error that
names the file and the line.
"""

import html
import json
import re
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any
from unicodedata import normalize

from docutils import nodes
from fontTools import subset
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

from _ext.javascript import NODE, NODE_MODULES

logger = logging.getLogger(__name__)

STYLES = NODE_MODULES / "temml/dist/Temml-STIX2.css"
FONT = NODE_MODULES / "@fontsource/stix-two-math/files/stix-two-math-latin-400-normal.woff"
# ssty draws the small primes, ss01 and ss04 the letters that the stylesheet asks for.
FEATURES = ["ssty", "dtls", "flac", "ss01", "ss04"]

# Browsers show a one-letter <mi> in mathematical italic, whose letters have code points of their own: Latin
# and Greek, and h, which was in Unicode before the others and kept its place.
ITALIC_PLACES = [*range(0x1D434, 0x1D468), *range(0x1D6E2, 0x1D71C)]
ITALIC = {normalize("NFKC", chr(place)): chr(place) for place in ITALIC_PLACES} | {"h": "ℎ"}
ROOT = "√"  # browsers draw it for <msqrt>
# Chromium hangs the sign from the line above, and lets it sink far below a low letter. So none is low.
STRUT = '<mspace height="0.78em" depth="0.16em"></mspace></msqrt>'


class Temml:
    """`Temml().convert("x^2", display=False)` is `<math>…</math>`; for bad TeX it raises ValueError."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [NODE, Path(__file__).with_name("temml.js")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def convert(self, tex: str, display: bool) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(BrokenPipeError):  # where there is nobody to ask, there is no answer either
            print(json.dumps({"tex": tex, "display": display}), file=self.process.stdin, flush=True)
        said = self.process.stdout.readline()
        if not said:
            status = self.process.wait()
            raise ExtensionError(
                f"Node, which renders the formulas, ended with status {status} before {tex!r}"
            )
        answer = json.loads(said)
        if "error" in answer:
            # After the reason Temml repeats the TeX, with marks under it that a terminal garbles.
            raise ValueError(re.split(" at (?:position|end of input)", answer["error"])[0].strip())
        return str(answer["mathml"]).replace("</msqrt>", STRUT)

    def close(self) -> None:
        self.process.communicate()


def start(app: Sphinx) -> None:
    app.temml = Temml()  # type: ignore[attr-defined]


def temml(app: Sphinx) -> Temml:
    """The one that this build has started."""
    return app.temml  # type: ignore[attr-defined, no-any-return]


def mathml(translator: HTML5Translator, node: nodes.Element, display: bool) -> str:
    try:
        return temml(translator.builder.app).convert(node.astext(), display)
    except ValueError as reason:
        logger.error("a formula can't be rendered: %s: %s", reason, node.astext().strip(), location=node)
        return ""


def visit_inline(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(translator.starttag(node, "span", "", CLASS="math"))
    translator.body.append(mathml(translator, node, display=False) + "</span>")
    raise nodes.SkipNode


def visit_display(translator: HTML5Translator, node: nodes.math_block) -> None:
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    translator.body.append(mathml(translator, node, display=True))
    if node["number"]:
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def characters(page: str) -> set[str]:
    """`characters("<p>d</p> <math><mi>x</mi></math>")` is what the font must have: x, 𝑥 and √, and not d."""
    formulas = re.findall("<math.*?</math>", page, re.DOTALL)
    written = set(html.unescape(re.sub("<.*?>", "", "".join(formulas))))
    return written | {ITALIC[letter] for letter in written & ITALIC.keys()} | {ROOT}


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Put Temml's stylesheet before the book's own, and beside it the part of the font that pages use."""
    temml(app).close()
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    styles = STYLES.read_text("utf-8").replace("STIXTwoMath.woff2", "formulas.woff")
    # One stylesheet and not two: before the first paint, a phone opens a connection for each.
    own = Path(app.srcdir, app.config.html_static_path[0], "book.css").read_text("utf-8")
    out.joinpath("_static/book.css").write_text(styles + own, "utf-8")
    used = set().union(*(characters(page.read_text("utf-8")) for page in out.glob("**/*.html")))
    options = subset.Options(flavor="woff", hinting=False, layout_features=FEATURES)
    font = subset.load_font(FONT, options)
    give_roots_one_width(font)
    subsetter = subset.Subsetter(options)
    subsetter.populate(text="".join(used))
    subsetter.subset(font)
    subset.save_font(font, out / "_static/formulas.woff", options)


def give_roots_one_width(font: TTFont) -> None:
    """Squeeze the taller forms of √ to the width of the usual one.

    Beside a formula that holds a root, Chromium leaves room for the widest form, whichever form it draws.
    """
    variants, widths = font["MATH"].table.MathVariants, font["hmtx"]
    root = font.getBestCmap()[ord(ROOT)]
    forms = variants.VertGlyphConstruction[variants.VertGlyphCoverage.glyphs.index(root)]
    taller = {form.VariantGlyph for form in forms.MathGlyphVariantRecord}
    taller |= {part.glyph for part in forms.GlyphAssembly.PartRecords}
    width, _ = widths[root]
    for name in taller - {root}:
        advance, bearing = widths[name]
        glyph = font["glyf"][name]
        glyph.coordinates.scale((width / advance, 1))
        glyph.coordinates.toInt()
        glyph.recalcBounds(font["glyf"])
        widths[name] = (width, round(bearing * width / advance))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("temml", (visit_inline, None), (visit_display, None))
    app.connect("builder-inited", start)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True}
