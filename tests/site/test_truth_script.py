"""The script that knows what is right, in Node, held against the grammars in Python."""

import json
import re
import subprocess

import pytest
from wrong_sentences import mutated

from _ext.javascript import NODE
from attnlab.corpora import agreement, grammar
from attnlab.corpora.grammar_check import English, Lingo, fault
from attnlab.runtime import generator
from bookkit.registry import BOOK
from chapters.the_transformer import playground, truth
from chapters.translating_with_attention.models import END, LINGO_WORDS

SCRIPTS = [(BOOK / "_static" / name).read_text("utf-8") for name in ("elements.js", "bench/truth.js")]


@pytest.fixture
def script(tmp_path):
    """A function that gives what an expression of `data` and `given` is for each of these."""

    def run(expression, data, given):
        program = tmp_path / "program.js"
        call = f"const data = {json.dumps(data)};\nconst all = {json.dumps(given)};\n"
        call += f"console.log(JSON.stringify(all.map((given) => {expression})));"
        program.write_text("\n".join([*SCRIPTS, call]), "utf-8")
        done = subprocess.run([NODE, str(program)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


# ---- translations ----

TRANSLATOR = {"truth": truth.english(), "written": LINGO_WORDS, "end": END}


def judged(script, *pairs):
    """What is said of translations: pairs of an English and a Lingo sentence."""
    given = [[english.split(), lingo.split()] for english, lingo in pairs]
    return script("judged(data, ...given)", TRANSLATOR, given)


def test_the_right_translation_is_the_grammars_in_thousands_of_sentences(script):
    writer = grammar.Writer(generator(4))
    pairs = [writer.sentence(clauses=1 + number % 4) for number in range(4000)]
    said = script("judged(data, ...given)", TRANSLATOR, [[pair.english, pair.lingo] for pair in pairs])
    assert all(each["known"] and each["right"] for each in said)
    assert [tuple(each["expected"]) for each in said] == [pair.lingo for pair in pairs]
    assert {each["words"] for each in said} == {"Right, in every word."}


def test_the_first_word_that_can_not_stand_there_is_the_grammars_in_thousands_of_sentences(script):
    sentences = [pair.english for pair in grammar.pairs(1000, generator(5))]
    tried = mutated(sentences, sorted(English.forms), 4000)
    said = script("judged(data, given, [])", TRANSLATOR, tried)
    for words, each in zip(tried, said, strict=True):
        expected = re.match(r"word (\d+)", fault(words, English))
        assert each["known"] == (not expected), words
        if expected:
            assert each["place"] + 1 == int(expected[1]), words
        else:
            assert fault(each["expected"], Lingo) == "", words
    assert 500 < sum(each["known"] for each in said) < 2000


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ("", "There is no word yet."),
        ("the cat sleep", "“sleep” does not fit “cat”: “sleeps” would."),
        ("the cats runs", "“runs” does not fit “cats”: “run” would."),
        ("the cat will sleeps", "“sleeps” does not fit “will”: “sleep” would."),
        ("these big dog sleep", "“dog” does not fit “these”: “dogs” would."),
        ("the dogs 's cat sleeps", "“’s” does not fit “dogs”: “’” would."),
        (
            "the cat the dog sleeps",
            "Word 3, “the”, can’t stand behind “cat”: here may come a verb, “’s” or “will”.",
        ),
        ("dog sleeps", "A sentence can’t begin with “dog”: it begins with “the”, “my”, “this” or “these”."),
        (
            "the cat sleeps because the cat",
            "This is only the beginning of a sentence: behind “cat” there is still to come a verb,"
            " “’s” or “will”.",
        ),
        (
            "the cat sleeps the dog",
            "Word 4, “the”, can’t stand behind “sleeps”: here may come “near”, “behind”, “with”, “and”,"
            " “but”, “because” or the end.",
        ),
        ("the cow sleeps", "“cow” is no word of this English."),
    ],
)
def test_what_is_no_sentence_is_told_why(script, words, fault):
    [said] = judged(script, (words, ""))
    assert not said["known"]
    assert said["fault"] == fault


def test_in_a_wrong_translation_only_the_wrong_words_are_marked(script):
    english = "the old king 's hungry red dogs will hide"
    right = "hundos rubos famelos de lo rego veco se celeran"
    said = judged(
        script,
        (english, f"{right} <end>"),
        (english, right.replace("veco", "veca")),
        (english, right.replace("famelos ", "")),
        (english, f"los {right}"),
        (english, ""),
    )
    wrong = [[(each["word"], each["note"]) for each in one["marks"] if each["wrong"]] for one in said]
    assert wrong == [[], [("veca", "should be “veco”")], [], [("los", "should not be there")], []]
    assert [one["missing"] for one in said] == [
        [], [], [{"at": 2, "words": ["famelos"]}], [], [{"at": 0, "words": right.split()}],
    ]  # fmt: skip
    assert [one["right"] for one in said] == [True, False, False, False, False]
    assert [one["words"] for one in said] == [
        "Right, in every word.",
        f"Not right: 1 word is wrong. It should be “{right}”.",
        f"Not right: 1 word is missing. It should be “{right}”.",
        f"Not right: 1 word is wrong. It should be “{right}”.",
        f"Not right: 9 words are missing. It should be “{right}”.",
    ]


def test_the_marks_and_the_missing_words_make_the_right_translation(script):
    """In hundreds of wrong translations: leave out, exchange and put in as told, and it is right."""
    pairs = grammar.pairs(300, generator(6))
    wrong = [mutated([pair.lingo], sorted(Lingo.forms), 1)[0] for pair in pairs]
    given = [[pair.english, words] for pair, words in zip(pairs, wrong, strict=True)]
    for pair, words, said in zip(
        pairs, wrong, script("judged(data, ...given)", TRANSLATOR, given), strict=True
    ):
        assert [mark["word"] for mark in said["marks"]] == words
        put_in = {each["at"]: each["words"] for each in said["missing"]}
        mended = [*put_in.get(0, [])]
        for place, mark in enumerate(said["marks"], start=1):
            note = re.match(r"should be “(.+)”", mark.get("note", ""))
            mended += [note[1]] if note else [] if mark["wrong"] else [mark["word"]]
            mended += put_in.get(place, [])
        assert mended == [*pair.lingo]
        assert said["right"] == (words == [*pair.lingo])


# ---- the language model ----

LANGUAGE_MODEL = {"grammar": playground.grammar(), "verbs": truth.verbs()}


def marked(script, *sentences):
    return script("marked(data, given)", LANGUAGE_MODEL, [words.split() for words in sentences])


def test_the_first_mark_is_where_the_grammar_breaks_in_thousands_of_sentences(script):
    sentences = agreement.sentences(1000, generator(5))
    tried = [*sentences, *mutated(sentences, agreement.WORDS, 3000)]
    said = script("marked(data, given)", LANGUAGE_MODEL, tried)
    for words, each in zip(tried, said, strict=True):
        marks = [mark["wrong"] for mark in each["marks"]]
        fault = agreement.fault(words)
        place = re.match(r"word (\d+)", fault)
        assert each["right"] == (not any(marks)) == (not place)
        assert (each["words"] == "A sentence of the grammar.") == (not fault), words
        if place:
            assert marks.index(True) + 1 == int(place[1]), words


def test_a_verb_that_does_not_agree_is_told_its_subject(script):
    """In the other number it is right, and behind it all is judged as if it were."""
    forms = {**truth.verbs(), **{one: other for other, one in truth.verbs().items()}}
    sentences = agreement.sentences(300, generator(7))
    tried = [[forms.get(word, word) for word in words] for words in sentences]
    for words, wrong, said in zip(sentences, tried, marked(script, *map(" ".join, tried)), strict=True):
        states = agreement.read(words)
        places = [place for place, word in enumerate(words) if word in forms]
        assert [place for place, mark in enumerate(said["marks"]) if mark["wrong"]] == places
        assert all(mark["judged"] for mark in said["marks"])
        for place in places:
            clause = states[place].next == "verb of clause"
            subject = words[place - 1] if clause else words[1]
            assert said["marks"][place]["note"] == (
                f"“{wrong[place]}” does not fit “{subject}”: “{words[place]}” would."
            )
            assert words[place] in said["marks"][place]["allowed"]
            assert wrong[place] not in said["marks"][place]["allowed"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "There is no word yet."),
        ("the dogs", "So far all is as the grammar has it; the sentence is not at its end."),
        ("the dog sees the cat .", "A sentence of the grammar."),
        (
            "dog sees",
            "No sentence begins with “dog”: first comes “the”. What stands behind it is not judged.",
        ),
        (
            "the dog the cat",
            "Word 3, “the”, can’t stand behind “dog”: here may come “that”, “near”, “behind”, “with”, “under”"
            " or a verb. What stands behind it is not judged.",
        ),
        (
            "the dog sees . the",
            "Word 5, “the”, can’t stand behind “.”: the sentence has ended. What stands behind it"
            " is not judged.",
        ),
    ],
)
def test_what_the_grammar_says_is_said_in_words(script, words, said):
    assert marked(script, words)[0]["words"] == said


def test_behind_a_fault_that_is_no_verbs_nothing_is_judged(script):
    [said] = marked(script, "the dog the cat sees")
    assert [mark["judged"] for mark in said["marks"]] == [True, True, True, False, False]
    assert [mark["wrong"] for mark in said["marks"]] == [False, False, True, False, False]
