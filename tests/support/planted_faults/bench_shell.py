"""Faults planted in what all benches share: texts, changes and their undo, answers, links, tallies."""

from planted_faults.kinds import Faults

SHELL, SHARED = "site/test_workbench.py::", "site/test_shared_state.py::"
MODEL, LINGO = "site/test_playground_language_model.py::", "site/test_playground_translator.py::"
NUMBERS, BUNDLES = "site/test_numbers_in_the_page.py::", "site/test_bundles.py::"
BENCH = "_static/bench/"
SHORTER = "test_a_text_that_gets_shorter_loses_what_was_hidden_or_followed_behind_its_end"

FAULTS: Faults = {
    "_static/workbench.js": {
        f"{SHELL}test_a_change_and_its_undo_leave_exactly_what_was[language-model-Looks and effects]": [
            (
                "an undo that is only listed",
                "this.deeds.splice(place, 1);\n    return this.run();",
                "this.deeds.splice(place, 1);\n    return this.showDeeds();",
            ),
            ("sets that are all alike", "if (value instanceof Set) return [...value].sort();", ""),
            (
                "the changed run for the plain one",
                "await this.changedRun(input, turn) : this.plain",
                "this.plain : this.plain",
            ),
        ],
        f"{SHELL}test_all_is_as_it_was_after_one_press": [
            (
                "the first undone for any",
                "  undo(place = this.deeds.length - 1) {\n    this.deeds.splice(place, 1)",
                "  undo(place = this.deeds.length - 1) {\n    this.deeds.splice(0, 1)",
            ),
            (
                "all but the last undone",
                "this.deeds = [];\n    return this.run();",
                "this.deeds.length = 1;\n    return this.run();",
            ),
        ],
        f"{SHELL}test_a_change_that_takes_an_earlier_one_back_leaves_neither": [
            ("both that take each other back", "if (before >= 0) this.deeds", "if (before > 9) this.deeds"),
            ("the same change twice", "if (now === inText(this.changes)) return", "if (false) return"),
        ],
        f"{SHELL}test_whoever_types_on_sees_no_answer_to_what_was_typed_before": [
            ("what was typed before", "if (this.turn !== turn) return undefined;", ""),
        ],
        f"{SHELL}{SHORTER}[language-model]": [
            ("a place behind the end", ": within(choice.key, row.length);", ": choice.key;"),
        ],
        f"{NUMBERS}test_of_a_text_typed_after_a_change_it_is_told_how_it_was_without": [
            ("how it was in the text before", "this.plain?.key !== key", "!this.plain"),
            (
                "changed twice for before and now",
                "this.through(this.plainModel, input, turn);\n",
                "this.through(Object.assign(twin(this.model), { changes: this.changes }), input, turn);\n",
            ),
            ("words that were picked for another text", "this.picked = false;\n    Object", "Object"),
        ],
    },
    "_static/benches.js": {
        f"{MODEL}test_the_likeliest_words_with_the_models_chances_and_the_grammars": [
            (
                "no temperature",
                "softmax(this.logits.at(-1), this.temperature)",
                "softmax(this.logits.at(-1))",
            ),
            (
                "the chances behind the word before",
                "softmax(this.logits.at(-1), this",
                "softmax(this.logits.at(-2), this",
            ),
            (
                "the grammar of the beginning",
                "for (const word of words) state =",
                "for (const word of []) state =",
            ),
        ],
        f"{MODEL}test_without_a_head_the_chances_change_as_pytorchs_do": [
            (
                "before and now exchanged",
                "from ${chanceWords(before[id])} to ${chanceWords(now[id])}",
                "from ${chanceWords(now[id])} to ${chanceWords(before[id])}",
            ),
            ("now for what it was", "it was ${total(before)}", "it was ${total(now)}"),
        ],
        f"{MODEL}test_what_it_writes_is_judged_by_the_grammar": [
            ("all of them right", "this.drawn.right += right;", "this.drawn.right += 1;"),
            ("counted on at another temperature", "this.drawn = {", "this.drawn ??= {"),
        ],
        "site/test_looks_view.py::test_a_head_that_is_off_is_told_by_what_becomes_of_both_words": [
            ("the less likely first", ": [first, other(first)]", ": [other(first), first]"),
        ],
        f"{LINGO}test_a_sentence_is_translated_as_it_is_typed": [
            (
                "a sentence without its end",
                "=> this.data.read.indexOf(word)), this.data.end]",
                "=> this.data.read.indexOf(word))]",
            ),
            (
                "the word before the one that is written",
                'return stack === "read" ? this.labels(stack) : this.written.map(shown);',
                "return this.labels(stack);",
            ),
        ],
        f"{LINGO}test_without_heads_the_answer_says_what_it_was": [
            (
                "what it is for what it was",
                "With everything on it was ${quoted(plain)}",
                "With everything on it was ${quoted(text(this.written))}",
            ),
        ],
        f"{LINGO}test_on_the_front_page_one_switch_takes_the_positions_away": [
            (
                "positions that are always there",
                "=> (changes.positions = !changes.positions)",
                "=> (changes.positions = true)",
            ),
        ],
        f"{SHELL}test_the_wrong_words_of_a_translation_are_marked": [
            ("wrong called right", '`${right ? "✓" : "✗"} ${words}`', '`${right ? "✗" : "✓"} ${words}`'),
            ("right words marked", "return wrong ? make", "return !wrong ? make"),
        ],
    },
    f"{BENCH}sentence_field.js": {
        f"{LINGO}test_words_are_offered_and_strange_ones_named": [
            (
                "the word before the strange one unread",
                "words.indexOf(unknown[0]) : Infinity",
                "words.indexOf(unknown[0]) - 1 : Infinity",
            ),
            (
                "strange words passed over",
                "this.words = words.slice(0, Math",
                "this.words = words.filter((word) => this.known.includes(word)).slice(0, 9 + Math",
            ),
            ("a word too many", "words.length > MOST_TYPED) return", "words.length > MOST_TYPED + 3) return"),
        ],
        f"{LINGO}test_a_sentence_is_translated_as_it_is_typed": [
            ("endings lost", '"\'").replace(/[,;:', '"").replace(/[,;:'),
        ],
        f"{LINGO}test_one_sentence_is_read": [
            ("two sentences as one", "typed.split(/[.!?]/)", '[typed.replace(/[.!?]/g, " ")]'),
        ],
    },
    f"{BENCH}shared_state.js": {
        f"{SHARED}test_a_link_brings_back_what_was_shown[language-model]": [
            (
                "the first head's vector",
                "whole.slice(head * width, (head + 1) * width)",
                "whole.slice(0, width)",
            ),
            (
                "from its own place",
                "const whole = run.traces[stack][name][from];",
                "const whole = run.traces[stack][name][place];",
            ),
            (
                "the second sentence lost",
                "other: carried.length ? bench.otherText : undefined",
                "other: undefined",
            ),
            ("the mask's switch lost", "if (!mask) wholes", "if (!positions && !mask && false) wholes"),
            (
                "the words that are compared exchanged",
                "rivals.map((id) => vocabulary[id]) :",
                "rivals.map((id) => vocabulary[id]).reverse() :",
            ),
            ("a step that is not shared", "number, step });", "number });"),
            (
                "numbers that are not shared",
                "deed: (changes) => changes.numbers.push(...set)",
                "deed: (changes) => changes.numbers.push()",
            ),
        ],
        f"{SHARED}test_what_is_not_there_is_told_in_a_sentence_and_the_rest_is_shown": [
            ("what is wrong untold", "bench.tellTroubles(troubles);", "bench.tellTroubles([]);"),
            ("any step", "steps: stacks.flatMap(stepNames),", ""),
        ],
    },
    f"{BENCH}tally_line.js": {
        f"{SHELL}test_it_counts_how_often_it_is_right_as_pytorch_does_with_a_head_and_without": [
            (
                "what was counted with everything on",
                "found = this.counted.get(inText(this.bench.changes))",
                "found = this.counted.get(inText(noChanges()))",
            ),
            (
                "counted with everything on",
                "tally(bench.model, bench.data, changes), turn",
                "tally(bench.model, bench.data, noChanges()), turn",
            ),
            (
                "as many as now",
                "with everything on in ${whole.right}",
                "with everything on in ${found.right}",
            ),
            ("counted to its end", "if (this.turn !== turn) return undefined;", ""),
        ],
    },
    f"{BENCH}induction_bench.js": {
        f"{NUMBERS}test_each_symbol_is_judged_by_what_followed_the_last_time": [
            (
                "a symbol that is its own last time",
                "symbols.lastIndexOf(symbols[place], place - 1)",
                "symbols.lastIndexOf(symbols[place], place)",
            ),
            (
                "the first time for the last",
                "symbols.lastIndexOf(symbols[place], place - 1)",
                "symbols.indexOf(symbols[place])",
            ),
            (
                "chances a place too late",
                "const share = chances[place - 1][",
                "const share = chances[place][",
            ),
            (
                "the likeliest of another place",
                "Math.max(...chances[place - 1])",
                "Math.max(...chances[place])",
            ),
            ("what could not be known counted", "mark.known && mark.right)", "mark.right)"),
            ("known wherever it stood before", "before >= 0 && words[before + 1] === symbol", "before >= 0"),
            (
                "right called wrong",
                'best.symbol === expected ? sure : "Wrong"',
                'best.symbol === expected ? "Wrong" : sure',
            ),
            ("places from 0", "at place ${place + 1}, ", "at place ${place}, "),
            (
                "now for what it was",
                "percent(before.chances.at(-1)[",
                "percent(marks.length && softmax(this.logits.at(-1))[",
            ),
        ],
    },
    f"{BENCH}chances.js": {
        f"{MODEL}test_the_likeliest_words_with_the_models_chances_and_the_grammars": [
            (
                "a likelier one passed over",
                "(other) => chances[other] < chances[id]",
                "(other) => chances[other] > chances[id]",
            ),
        ],
        f"{MODEL}test_written_at_hardly_any_temperature_it_takes_the_likeliest": [
            ("a word too far", "(number -= share) < 0)", "(number -= share) < -0.4)"),
        ],
    },
    "_ext/playground": {
        f"{BUNDLES}test_a_bundle_is_the_program_that_its_sources_are[bench.js]": [
            ("lines that end in a comment left out", 'not line.startswith("//")', '"//" not in line'),
            ("the last file left out", "for source in sources:", "for source in sources[:-1]:"),
            ("all in one line", '("\\n".join(lines)', '(" ".join(lines)'),
        ],
        f"{BUNDLES}test_each_file_of_a_bench_is_in_one_bundle": [
            ("a file that no page loads", "bench/chances.js bench/tally.js", "bench/tally.js"),
        ],
    },
    "chapters/looking_inside/tries": {
        "site/test_tally_script.py::test_as_many_are_right_as_in_pytorch_and_the_same_are_wrong[induction]": [
            ("rounds a symbol too long", "words[:period])", "words[: period + 1])"),
            ("other symbols", "generator(UNSEEN)", "generator(UNSEEN + 1)"),
        ],
    },
}
