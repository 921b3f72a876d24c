"""Search leads to the section that answers, and shows the sentence in which the words stand."""

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import BrowserContext, Page, expect

from _ext import search
from tools.site.browser import weigh

# A question; the page that answers it; and a word that stands where it leads, in the title or the sentence.
# One of the first three results must be such a one. A row follows its section to another page.
BUFFERS, SCALE, ADDITIVE = "buffers-parameters", "why-divide-by-root", "two-ways-to-score"
ORDER, TEXT, EPOCHS, FIRST = "where-am-i", "text-as-tensors", "epochs-batches", "what-is-attention"
LEARNED, MASKS, HEADS, ORDERS = "queries-keys", "who-may-look", "many-heads", "translating"
QUESTIONS = [
    # symbols
    ("√dₖ", SCALE, "divid"),
    ("d_k", SCALE, "d"),
    ("sqrt d_k", SCALE, "root"),
    ("square root of dk", SCALE, "root"),
    ("QKᵀ", FIRST, "QKᵀ"),
    ("QK^T", SCALE, "softmax"),
    ("-inf", MASKS, "∞"),
    # names of the API
    ("register_buffer", BUFFERS, "register_buffer"),
    ("nn.MultiheadAttention", SCALE, "nn.MultiheadAttention"),
    ("key_padding_mask", MASKS, "key_padding_mask"),
    ("scaled_dot_product_attention", SCALE, "scaled_dot_product_attention"),
    ("key_padding_mask", TEXT, "padding"),
    ("state_dict()", BUFFERS, "state_dict"),
    ("persistent=False", BUFFERS, "persistent=False"),
    ("BucketIterator", TEXT, "length"),
    ("DistributedSampler", EPOCHS, "sampler"),
    # words
    ("softmax", FIRST, "softmax"),
    ("temperature", FIRST, "temperature"),
    ("jacobian", SCALE, "Jacobian"),
    ("additive score", ADDITIVE, "additive"),
    ("rotary positions", ORDER, "rotary"),
    ("early stopping", EPOCHS, "stop"),
    ("Bahdanau", ORDERS, "Bahdanau"),
    ("softmax infinity", FIRST, "infinity"),
    ("float16", BUFFERS, "float16"),
    ("projection matrices", LEARNED, "matri"),
    ("how many parameters do more heads have", HEADS, "parameters"),
    # mistakes, in a reader's words
    ("why is my loss nan", "fourteen-patients", "NaN"),
    ("attention to padding", TEXT, "padding"),
    ("my loss is too good", "the-transformer", "loss"),
    ("view without transpose", HEADS, "view"),
    ("I forgot to scale the scores", SCALE, "scores"),
    ("model ignores the order", ORDER, "order"),
    ("buffer is not moved to the device", BUFFERS, "device"),
    ("softmax over the wrong axis", ADDITIVE, "axis"),
    # names that its section does not have
    ("kv cache", "the-transformer", "twice"),
    ("gqa", "fewer-keys", "fewer"),
    ("weight tying", "from-words", "tied"),
    ("padding left or right", "writing-faster", "several texts"),
    ("transformer from scratch pytorch", "the-transformer", "screen"),
    # a slip of the finger
    ("regsiter_buffer", BUFFERS, "register_buffer"),
    ("vanishing gradeint", SCALE, "vanish"),
]


def ask(page: Page, question: str) -> None:
    """Type the question, and wait for its answer."""
    page.get_by_label("Search for").fill(question)
    page.wait_for_function(
        "asked => new URLSearchParams(location.search).get('q') === asked", arg=question or None
    )


@pytest.fixture(scope="module")
def searching(window: BrowserContext, base_url: str) -> Iterator[Page]:
    """One search page for all questions."""
    tab = window.new_page()
    tab.goto(base_url + "search.html")
    yield tab
    tab.close()


@pytest.mark.parametrize(
    ("question", "page", "word"),
    [
        pytest.param(*row, id=row[0], marks=[pytest.mark.thorough] * (place % 5 > 0))
        for place, row in enumerate(QUESTIONS)
    ],
)
def test_a_question_leads_to_its_section(searching, question, page, word):
    ask(searching, question)
    found = [
        (item.get_by_role("link").first.get_attribute("href"), item.inner_text())
        for item in searching.locator("#results > li").all()[:3]
    ]
    assert any(
        href.startswith(page) and "#" in href and word.lower() in text.lower() for href, text in found
    ), found


def test_the_lesson_comes_first_and_the_page_on_the_checks_last(searching):
    ask(searching, "Luong")
    links = searching.locator("#results > li > a").all()
    first, *between, last = [link.get_attribute("href").partition("#")[0] for link in links]
    assert first.startswith(ORDERS)
    assert "reading-list.html" in between
    assert last == "how-this-book-checks-itself.html"


def test_the_words_are_marked_in_their_sentence_whatever_their_form(searching):
    ask(searching, "masking dₖ")
    marks = {text.lower() for text in searching.locator("#results mark").all_inner_texts()}
    assert {"mask", "d_k"} <= marks
    assert all("mask" in mark or mark.strip("√") in ("d_k", "dₖ") for mark in marks), marks


def test_what_is_not_found_is_said(searching):
    status = searching.locator("main").get_by_role("status")
    ask(searching, "softmax")
    expect(status).to_contain_text("sections")
    ask(searching, "xyzzy")
    expect(status).to_have_text("Nowhere in the book: “xyzzy”.")
    assert not searching.locator("#results > li").count()
    ask(searching, "mixture of experts")
    expect(status).to_have_text("Nowhere in the book: “mixture of experts”.")
    ask(searching, "learning rate of a mixture of experts")
    assert searching.locator("#results > li").count()
    ask(searching, "xyzzy softmax")
    expect(status).to_contain_text("Nowhere in the book: “xyzzy”.")
    assert searching.locator("#results > li").count()
    ask(searching, "softmaxx")
    expect(status).to_contain_text("much like words that are: “softmaxx”.")
    ask(searching, "")
    expect(status).to_have_text("")


@pytest.mark.thorough
def test_the_form_in_every_pages_bar_leads_to_the_answer_and_the_keyboard_to_the_section(page, base_url):
    page.goto(base_url + "index.html")
    page.get_by_label("Search the book").fill("whose gradient vanishes")
    page.keyboard.press("Enter")
    page.locator("#results > li").first.wait_for()
    expect(page.get_by_label("Search for")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("#results a").first).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(f"{base_url}why-divide-by-root-dk.html#*")
    page.go_back()
    expect(page.get_by_label("Search for")).to_have_value("whose gradient vanishes")


@pytest.mark.thorough
def test_a_folded_claim_is_found_and_unfolded(page, base_url, soup):
    row = soup("where-am-i.html").select_one(".tag_bookkeeping details .claim")
    sentence = row.select_one(".claim-sentence").get_text()
    page.goto(f"{base_url}search.html?q={quote(sentence)}")
    page.locator(f"#results a[href$='{row['id']}']").click()
    page.wait_for_url(f"{base_url}where-am-i.html#{row['id']}")
    expect(page.locator(f"#{row['id']}")).to_be_in_viewport()


@pytest.mark.thorough
def test_search_works_from_a_folder_without_a_network(offline, site):
    offline.goto((site / "index.html").as_uri())
    offline.get_by_label("Search the book").fill("attention")
    offline.keyboard.press("Enter")
    offline.locator("#results > li").first.wait_for()


@pytest.mark.thorough
def test_sections_that_do_not_arrive_are_missed_in_words(page, base_url):
    page.route("**/sections.js", lambda route: route.abort())
    page.goto(base_url + "search.html?q=softmax")
    status = page.locator("main").get_by_role("status")
    expect(status).to_have_text("The search could not be started; reload the page to try again.")


@pytest.mark.thorough
def test_a_question_costs_twelve_kilobytes_a_page(page, base_url, site):
    """What is searched grows with the book: it is loaded with the first question, and by no other page.

    Two fifths of it are an index, which is loaded in a seventh of the time that it takes to make.
    """
    opened, _ = weigh(page, base_url + "search.html")
    asked, _ = weigh(page, base_url + "search.html?q=softmax")
    assert opened <= 80_000
    assert asked - opened <= 12_000 * len(list(site.glob("*.html")))


# ---- what is taken from a page ----


def math(inside: str) -> BeautifulSoup:
    return BeautifulSoup(f"<math>{inside}</math>", "html.parser").math


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("<msqrt><msub><mi>d</mi><mi>k</mi></msub></msqrt>", "√d_k"),
        ("<msup><mi>K</mi><mo>⊤</mo></msup>", "Kᵀ"),
        ("<msup><mi>e</mi><mrow><mo form='prefix'>−</mo><mi>x</mi></mrow></msup>", "e^(−x)"),
        ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>10</mn></mfrac>", "(a + b) / 10"),
        ("<mi>tanh</mi><mo>\u2061</mo><mo>(</mo><mi>x</mi><mo>)</mo>", "tanh(x)"),
        ("<mi>sin</mi><mo>\u2061</mo><mi>𝔼</mi>", "sin E"),
    ],
)
def test_a_formula_is_searched_as_one_would_type_it(formula, text):
    assert search.readable(math(formula)) == text


PAGE = """<main><section id="a"><h1>Chapter<a class="headerlink">#</a></h1><p>First. Second.</p>
<section id="b"><h2>Part</h2>
<div class="cell"><div class="cell_input"><div class="highlight"><pre>import torch
<span class="n">nn</span>.<span class="n">Linear</span>(bias=<span class="kc">False</span>)
<span class="c1"># Secret</span></pre></div></div>
<div class="cell_output"><pre>12 numbers
ValueError: too long</pre></div></div>
<div class="cell tag_bookkeeping"><details><summary>✓ 1 check holds</summary><div class="cell_output">
<div class="claim" id="claim-1"><span class="claim-sentence">it holds</span></div></div></details></div>
<details><summary>Hint</summary><p>Look away.</p></details>
<table><tr><td>d_k</td><td>length</td></tr></table>
<section id="c"><h3>Piece</h3><p>Third.</p></section></section>
<section id="solutions"><h2>Solutions</h2><p>42</p></section></section></main>"""


def test_each_section_has_its_own_text_names_and_claims():
    chapter, part, piece = search.sections(PAGE)
    assert chapter == {
        "id": "a", "title": "Chapter", "within": "", "claims": [], "code": "", "text": "First. Second.",
    }  # fmt: skip
    assert part["text"] == "ValueError: too long\nd_k · length"
    assert part["code"] == "nn.Linear bias"
    assert part["claims"] == [("claim-1", "it holds")]
    assert (piece["title"], piece["within"], piece["text"]) == ("Piece", "Part", "Third.")
