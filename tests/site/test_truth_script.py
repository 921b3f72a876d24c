"""The scripts that know what is right, and how often a model is, in Node: as the grammars and PyTorch say."""

import json
import math
import re

import pytest
import torch
from node import printed
from script_and_pytorch import IN_PAGE, returned, spelled
from wrong_sentences import mutated

from attnlab.corpora import agreement, grammar
from attnlab.corpora.grammar import Pair
from attnlab.corpora.grammar_check import English, Lingo, fault
from attnlab.runtime import generator
from bookkit.registry import BOOK
from chapters.a_gpt_of_your_own import playground as of_gpt
from chapters.looking_inside import models as repeats
from chapters.the_transformer import models, playground, truth
from chapters.translating_with_attention.models import END, LINGO_WORDS, sentences, unseen_pairs

SCRIPTS = ("elements.js", "bench/truth.js", "bench/tally.js")


def script(expression, data, given):
    """What an expression of `data` and `given` is for each of these."""
    call = f"const data = {json.dumps(data)};\nconst all = {json.dumps(given)};\n"
    call += f"console.log(JSON.stringify(all.map((given) => {expression})));"
    scripts = [(BOOK / "_static" / name).read_text("utf-8") for name in SCRIPTS]
    return printed("\n".join([*scripts, call]))


# ---- translations ----

TRANSLATOR = {"truth": truth.english(), "written": LINGO_WORDS, "end": END}


def judged(*pairs):
    """What is said of translations: pairs of an English and a Lingo sentence."""
    given = [[english.split(), lingo.split()] for english, lingo in pairs]
    return script("judged(data, ...given)", TRANSLATOR, given)


def test_the_right_translation_is_the_grammars_in_thousands_of_sentences():
    writer = grammar.Writer(generator(4))
    pairs = [writer.sentence(clauses=1 + number % 4) for number in range(4000)]
    said = script("judged(data, ...given)", TRANSLATOR, [[pair.english, pair.lingo] for pair in pairs])
    assert all(each["known"] and each["right"] for each in said)
    assert [tuple(each["expected"]) for each in said] == [pair.lingo for pair in pairs]
    assert {each["words"] for each in said} == {"Right, in every word."}


def test_the_first_word_that_can_not_stand_there_is_the_grammars_in_thousands_of_sentences():
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


FAULTS = [
    ("", "There is no word yet."),
    ("the cat sleep", "“sleep” does not fit “cat”: “sleeps” would."),
    ("the cats runs", "“runs” does not fit “cats”: “run” would."),
    ("the cat will sleeps", "“sleeps” does not fit “will”: “sleep” would."),
    ("these big dog sleep", "“dog” does not fit “these”: “dogs” would."),
    ("the dogs 's cat sleeps", "“’s” does not fit “dogs”: “’” would."),
    ("the cat the dog sleeps", "Word 3, “the”, can’t follow “cat”: here may come a verb, “’s” or “will”."),
    ("dog sleeps", "A sentence can’t begin with “dog”: it begins with “the”, “my”, “this” or “these”."),
    ("the cat", "This is only the beginning of a sentence: after “cat” comes a verb, “’s” or “will”."),
    (
        "the cat sleeps the dog",
        "Word 4, “the”, can’t follow “sleeps”: here may come “near”, “behind”, “with”, “and”,"
        " “but”, “because” or the end.",
    ),
    ("the cow sleeps", "“cow” is no word of this English."),
]


def test_what_is_no_sentence_is_told_why():
    said = judged(*((words, "") for words, _ in FAULTS))
    assert [(each["known"], each["fault"]) for each in said] == [(False, told) for _, told in FAULTS]


def test_in_a_wrong_translation_only_the_wrong_words_are_marked():
    english = "the old king 's hungry red dogs will hide"
    right = "hundos rubos famelos de lo rego veco se celeran"
    said = judged(
        (english, f"{right} <end>"),
        (english, right.replace("veco", "veca")),
        (english, right.replace("famelos ", "")),
        (english, f"los {right}"),
        (english, ""),
    )
    wrong = [[(each["word"], each["note"]) for each in one["marks"] if each["wrong"]] for one in said]
    assert wrong == [[], [("veca", "should be “veco”")], [], [("los", "should not be there")], []]
    assert [one["words"] for one in said] == [
        "Right, in every word.",
        f"Not right: 1 word is wrong. It should be “{right}”.",
        f"Not right: 1 word is missing. It should be “{right}”.",
        f"Not right: 1 word is wrong. It should be “{right}”.",
        f"Not right: 9 words are missing. It should be “{right}”.",
    ]


def test_the_marks_and_the_missing_words_make_the_right_translation():
    """In hundreds of wrong translations: leave out, exchange and put in as told, and it is right."""
    pairs = grammar.pairs(300, generator(6))
    wrong = [mutated([pair.lingo], sorted(Lingo.forms), 1)[0] for pair in pairs]
    given = [[pair.english, words] for pair, words in zip(pairs, wrong, strict=True)]
    judgements = script("judged(data, ...given)", TRANSLATOR, given)
    for pair, words, said in zip(pairs, wrong, judgements, strict=True):
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


def marked(*sentences):
    return script("marked(data, given)", LANGUAGE_MODEL, [words.split() for words in sentences])


def test_the_first_mark_is_where_the_grammar_breaks_in_thousands_of_sentences():
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


def test_a_verb_that_does_not_agree_is_told_its_subject():
    """In the other number it is right, and behind it all is judged as if it were."""
    forms = {**truth.verbs(), **{one: other for other, one in truth.verbs().items()}}
    sentences = agreement.sentences(300, generator(7))
    tried = [[forms.get(word, word) for word in words] for words in sentences]
    for words, wrong, said in zip(sentences, tried, marked(*map(" ".join, tried)), strict=True):
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


SAID = [
    ("", "There is no word yet."),
    ("the dogs", "So far all is as the grammar has it; the sentence is not at its end."),
    ("the dog sees the cat .", "A sentence of the grammar."),
    ("dog sees", "No sentence begins with “dog”: first comes “the”. What follows is not judged."),
    (
        "the dog the cat",
        "Word 3, “the”, can’t follow “dog”: here may come “that”, “near”, “behind”, “with”, “under”"
        " or a verb. What follows is not judged.",
    ),
    (
        "the dog sees . the",
        "Word 5, “the”, can’t follow “.”: the sentence has ended. What follows is not judged.",
    ),
]


def test_what_the_grammar_says_is_said_in_words():
    said = marked(*(words for words, _ in SAID))
    assert [each["words"] for each in said] == [words for _, words in SAID]


def test_behind_a_fault_that_is_no_verbs_nothing_is_judged():
    [said] = marked("the dog the cat sees")
    assert [mark["judged"] for mark in said["marks"]] == [True, True, True, False, False]
    assert [mark["wrong"] for mark in said["marks"]] == [False, False, True, False, False]


# ---- how often a model is right in fifty tries ----

# A head of each model whose absence is felt.
OFF = {
    "translator": "decoder.1.cross_attention 0",
    "language-model": "layers.1.self_attention 1",
    "induction": "layers.0.self_attention 0",
    "gpt": "blocks.0.attention 1",
}


TALLY = """
const before = model.changes;
return [{}, ...given].map((changes) => {
  const tallying = tally(model, data, { ...noChanges(), ...changes, off: new Set(changes.off),
    hidden: new Set(changes.hidden) });
  for (let pauses = 1; ; pauses++) {
    const { done, value } = tallying.next();
    if (done) return { ...value, pauses, kept: model.changes === before };
  }
});
"""


def tallied(name, *changes):
    """What is tallied of a model as it is and with each of these changes; it pauses after each try."""
    found = returned(name, changes, TALLY, SCRIPTS)
    for each in found:
        assert each.pop("pauses") > 20
        assert each.pop("kept")  # the model is left as it was
    return found


def translations(model):
    """How many are right, and of the first that are not: what was read, written, and right."""
    pairs: list[Pair] = [pair for pair in unseen_pairs(200) if 4 <= len(pair.english) <= 12][: truth.TRIES]
    wrong = []
    for pair in pairs:
        read = sentences([pair])
        words = models.greedy(model, read.source, read.lengths)[0].tolist()
        if words != read.targets[0].tolist():
            written = [LINGO_WORDS[word] for word in words if word != END]
            english = " ".join(pair.english).replace(" '", "’")
            wrong.append([english, " ".join(written), " ".join(pair.lingo)])
    return len(pairs) - len(wrong), wrong[:3]


def verbs(model):
    plurals, singulars = truth.verbs().keys(), truth.verbs().values()
    wrong, tried = [], truth.before_verbs()
    for beginning in tried:
        ids = playground._ids(beginning.split())
        logits = model(ids)[0, -1]
        likeliest = max([*plurals, *singulars], key=lambda verb: logits[models.WORDS.index(verb)])
        plural = beginning.split()[1].endswith("s")
        if (likeliest in plurals) != plural:
            right = truth.verbs()[likeliest] if likeliest in plurals else likeliest.removesuffix("s")
            wrong.append([beginning, likeliest, right])
    return len(tried) - len(wrong), wrong[:3]


def symbols(model):
    read = repeats.repeated(50, generator(repeats.UNSEEN))
    said = model(read.words)[:, :-1].argmax(-1)
    where = read.known[:, :-1]
    wrong = [
        ["".join(repeats.SYMBOLS[each] for each in some)
         for some in (read.words[row, : place + 1], said[row, place, None], read.words[row, place + 1, None])]
        for row, place in (where & (said != read.words[:, 1:])).nonzero().tolist()
    ]  # fmt: skip
    return int(where.sum()) - len(wrong), wrong[:3]


COUNTED = {"translator": translations, "language-model": verbs, "induction": symbols}


@pytest.mark.thorough
@pytest.mark.parametrize("name", COUNTED)
@torch.no_grad()
def test_as_many_are_right_as_in_pytorch_and_the_same_are_wrong(name):
    model, off = IN_PAGE[name].loaded(), {"off": [OFF[name]]}
    whole, lacking = tallied(name, off)
    for said, ours in ((whole, model), (lacking, spelled(model, off))):
        right, wrong = COUNTED[name](ours)
        assert said["right"] == right
        assert [[each["text"], each["written"], each["right"]] for each in said["examples"]] == wrong
    assert whole["of"] == lacking["of"] >= 50
    assert lacking["right"] < 0.9 * whole["right"]


@pytest.mark.thorough
@torch.no_grad()
def test_held_out_text_costs_as_many_bits_as_in_pytorch():
    model, off = IN_PAGE["gpt"].loaded(), {"off": [OFF["gpt"]]}
    whole, lacking = tallied("gpt", off)
    held_out = of_gpt.held_out()
    texts = torch.tensor(held_out["texts"])
    read = torch.cat([torch.full((len(texts), 1), held_out["start"]), texts[:, :-1]], 1)
    for said, ours in ((whole, model), (lacking, spelled(model, off))):
        losses = torch.nn.functional.cross_entropy(ours(read).transpose(1, 2), texts, reduction="sum")
        assert said["bits"] == pytest.approx(float(losses) / math.log(2) / held_out["bytes"], abs=1e-4)
    assert whole["bits"] < lacking["bits"]


@pytest.mark.thorough
def test_what_was_chosen_in_the_sentence_shown_is_left_out_of_others():
    spot = {"stack": "text", "name": "layers.0", "place": 3, "vector": [0] * 64}
    whole, same = tallied("language-model", {"hidden": ["text 1", "text 2"], "carried": [spot]})
    assert whole == same
