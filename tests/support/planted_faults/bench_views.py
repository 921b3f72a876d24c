"""Faults planted in the views of the benches: looks, effects, lines, and what is reached for."""

from planted_faults.kinds import Faults

LOOKS, REACH = "site/test_looks_view.py::", "site/test_reach_view.py::"
BENCH = "_static/bench/"
A_HEAD = f"{REACH}test_a_head_that_is_switched_off_is_off_in_pytorch_and_on_again_it_is_as_it_was"

FAULTS: Faults = {
    f"{BENCH}looks_road.js": {
        f"{LOOKS}test_each_head_and_network_has_the_share_that_pytorch_gives_it": [
            ("the first head's share for each", " && found.head === head;", ";"),
            ("the first layer's share for each", "found.layer === layer && found.part", "found.part"),
            (
                "one layer's network for both",
                "each.layer === layer && each.part === part",
                "each.part === part",
            ),
            (
                "heads from 0",
                "headWords(stack, { layer, part, head }), said]",
                "headWords(stack, { layer, part, head: head - 1 }), said]",
            ),
        ],
        f"{LOOKS}test_the_word_so_far_is_what_the_model_would_say_if_it_stopped_there": [
            ("the chance of another word", "${percent(chances[best])}`;", "${percent(chances[0])}`;"),
        ],
        f"{LOOKS}test_a_head_that_is_off_is_told_by_what_becomes_of_both_words": [
            ("off, and still adding", 'const said = off ? "off" :', "const said ="),
        ],
        f"{LOOKS}test_switching_off_each_in_turn_tells_what_pytorch_tells": [
            ("a loss for a gain", "off ${withSign(-lost)}`", "off ${withSign(lost)}`"),
        ],
    },
    f"{BENCH}looks_view.js": {
        f"{LOOKS}test_switching_off_each_in_turn_tells_what_pytorch_tells": [
            (
                "each without those before it",
                "const off = new Set([...bench.changes.off, ",
                "const off = (this.offs = [...(this.offs ?? []), ",
            ),
            (
                "the effect of another place",
                "run.logits[place][a] - run.logits[place][b]",
                "run.logits[0][a] - run.logits[0][b]",
            ),
            (
                "what was measured of another place",
                "for (const each of this.road.heads) delete each.lost;",
                "",
            ),
        ],
        f"{LOOKS}test_a_head_that_is_off_is_told_by_what_becomes_of_both_words": [
            (
                "afterwards for before",
                "softmax(bench.plainLogits[place]) : null",
                "softmax(bench.logits[place]) : null",
            ),
            ("the other head switched off", "this.turnOff([this.bench.choice.head],", "this.turnOff([0],"),
            ("the whole attention called off", "return heads.every((head)", "return !heads.some((head)"),
        ],
        f"{LOOKS}test_all_heads_of_one_kind_are_named_as_what_they_are": [
            (
                "all heads but the last",
                "Array(this.lines.shown.part.heads).keys()",
                "Array(this.lines.shown.part.heads - 1).keys()",
            ),
        ],
        f"{LOOKS}test_a_reader_picks_the_words_that_are_held_against_each_other": [
            (
                "shares of the words before",
                "this.forget(traces, place, ...rivals)",
                "this.forget(traces, place)",
            ),
        ],
    },
    f"{BENCH}attention_view.js": {
        f"{LOOKS}test_what_a_place_brings_is_told_with_its_weight": [
            ("the first head's lines", "[part.weights][choice.head];", "[part.weights][0];"),
            (
                "lines of the word before",
                "const row = weights[place];\n    const keys",
                "const row = weights[place - 1];\n    const keys",
            ),
            (
                "the second word for the first",
                "withSign(sum)} for ${a} against ${b}",
                "withSign(sum)} for ${b} against ${a}",
            ),
            ("layers from 0", "of layer ${choice.layer + 1}`;", "of layer ${choice.layer}`;"),
            (
                "all together but the last",
                "more([...weights.keys()], off",
                "more([...weights.keys()].slice(1, -1), off",
            ),
            ("a minus lost", 'number > 0 ? "+" : "−"', 'number > 0 ? "+" : ""'),
        ],
        f"{LOOKS}test_a_head_that_is_off_is_told_by_what_becomes_of_both_words": [
            (
                "used, though it is off",
                "if (off) return `${looks} It is off",
                "if (!brings) return `${looks} It is off",
            ),
        ],
        f"{LOOKS}test_of_a_long_text_only_what_matters_is_drawn": [
            ("the others forgotten", "filter((key) => !keys.includes(key))", "filter((key) => false)"),
        ],
    },
    f"{BENCH}reach.js": {
        f"{REACH}test_a_head_carries_the_number_of_the_subject_from_the_second_sentence": [
            (
                "the second word before the first",
                "logits[one] - logits[other]",
                "logits[other] - logits[one]",
            ),
            (
                "what stands at the same place",
                "traces[stack][name][from], station",
                "traces[stack][name][place - 1], station",
            ),
            (
                "heads from 0",
                "head ${head + 1}`;\n      return { name: attention.mixed",
                "head ${head}`;\n      return { name: attention.mixed",
            ),
            (
                "all of them for one head",
                "head === undefined ? vector : sliceOf(vector, head, heads)",
                "head === undefined ? vector : sliceOf(vector, 0, heads)",
            ),
        ],
        f"{REACH}test_a_second_sentence_may_be_shorter_or_unknown_or_missing": [
            (
                "what ends alike a place too early",
                "second.length - first.length + place : -1",
                "second.length - first.length + place - 1 : -1",
            ),
        ],
        f"{REACH}test_where_the_difference_stands_is_said_and_which_head_moves_it": [
            (
                "the first station for the last",
                "most.findLastIndex(([at]) => at)",
                "most.findIndex(([at]) => at)",
            ),
        ],
        f"{REACH}test_a_number_and_whole_rows_are_set_as_in_pytorch[language-model]": [
            ("the queries' rows for all three", "start: third * count, count", "start: 0 * count, count"),
            (
                "only the last of a row's numbers",
                "changes.numbers.push({ name, row, column, value });",
                "changes.numbers = [{ name, row, column, value }];",
            ),
            (
                "what was set before forgotten",
                "if (each.name === name && each.row === row) now[each.column]",
                "if (false) now[each.column]",
            ),
        ],
    },
    f"{BENCH}reach_carry.js": {
        f"{REACH}test_a_head_carries_the_number_of_the_subject_from_the_second_sentence": [
            (
                "its own place in the second sentence",
                "carriedTo(each, pairs[each], row",
                "carriedTo(each, 0, row",
            ),
            (
                "carried into another sentence, too",
                "if (JSON.stringify(bench.input) !== firstKey) return;",
                "",
            ),
            (
                "from the first sentence into itself",
                "row, stack, this.second.run.traces",
                "row, stack, this.second.first.traces",
            ),
        ],
        f"{REACH}test_a_press_on_a_cell_can_be_taken_back_by_a_second_one_and_by_the_list": [
            ("carried again", "if (put) changes.carried.push", "changes.carried.push"),
        ],
    },
    f"{BENCH}reach_effects.js": {
        f"{REACH}test_the_whole_map_is_pytorchs[language-model]": [
            ("what was for what comes of it", "short: withSign(after, 1)", "short: withSign(before, 1)"),
            (
                "with what else is changed",
                "{ ...noChanges(), carried",
                "{ ...noChanges(), mask: false, carried",
            ),
            (
                "the effect at the first place",
                "carried: this.carry.spots(cell.row, cell.place) }",
                "carried: this.carry.spots(cell.row, cells[0].place) }",
            ),
        ],
        f"{REACH}test_where_the_difference_stands_is_said_and_which_head_moves_it": [
            ("a station too early", "up to ${name(rows[last])}`", "up to ${name(rows[last - 1])}`"),
            ("a station too late", "from ${name(rows[first])} on", "from ${name(rows[first + 1])} on"),
            ("those that carry least", "b.effect.share - a.effect.share", "a.effect.share - b.effect.share"),
        ],
    },
    f"{BENCH}reach_map.js": {
        f"{REACH}test_a_head_carries_the_number_of_the_subject_from_the_second_sentence": [
            ("places from 0", "(place ${place + 1})`", "(place ${place})`"),
        ],
        f"{REACH}test_from_cell_to_cell_by_the_arrow_keys": [
            ("a cell of another row", "(right ? y === now.y && ", "(right ? "),
        ],
    },
    f"{BENCH}reach_numbers.js": {
        f"{REACH}test_a_number_and_whole_rows_are_set_as_in_pytorch[language-model]": [
            ("a row of another third", "row: matrix.start + this.row", "row: this.row"),
            ("the number behind it", "now[column] = value;", "now[column + 1] = value;"),
            ("turned around and kept", "(number) => -number", "(number) => Math.abs(number)"),
            ("what it was for what it is", "now, 3)}`;", "stored, 3)}`;"),
        ],
    },
    f"{BENCH}reach_parts.js": {
        f"{A_HEAD}[language-model]": [
            (
                "the head before it",
                "`${attention.name} ${head}`);\n    const each",
                "`${attention.name} ${Math.max(0, head - 1)}`);\n    const each",
            ),
            ("never on again", '[on ? "delete" : "add"]', '["add"]'),
            (
                "off called on",
                'button.textContent = on ? "on" : "off"',
                'button.textContent = on ? "off" : "on"',
            ),
        ],
        f"{REACH}test_nobody_looks_at_a_hidden_word_and_a_shorter_text_has_no_such_place": [
            (
                "the word behind it",
                "const spot = `${stack} ${place}`;\n    const hide",
                "const spot = `${stack} ${place + 1}`;\n    const hide",
            ),
            ("hidden behind the end", "place < (bench.input?.length ?? 0)) hidden", "true) hidden"),
        ],
    },
    f"{BENCH}reach_second.js": {
        f"{REACH}test_a_head_carries_the_number_of_the_subject_from_the_second_sentence": [
            (
                "the same rivals for and against",
                "[most(now, then), most(then, now)]",
                "[most(now, then), most(now, then)]",
            ),
            (
                "the answer of another place",
                "this.run.logits[this.pairs(voice.name)[place]]",
                "this.run.logits[0]",
            ),
        ],
        f"{REACH}test_the_whole_map_is_pytorchs[language-model]": [
            (
                "the second sentence as it is changed",
                "const run = await bench.compute(input);",
                "const run = await bench.compute(bench.input);",
            ),
        ],
    },
    f"{BENCH}reach_view.js": {
        f"{A_HEAD}[language-model]": [
            (
                "now for before",
                '[["as it was", bench.plainLogits[place]]]',
                '[["as it was", bench.logits[place]]]',
            ),
            (
                "before for now",
                'found.push(["now", bench.logits[place]])',
                'found.push(["now", bench.plainLogits[place]])',
            ),
            (
                "a change that is still said",
                "if (bench.done.length) found.push",
                "if (bench.status) found.push",
            ),
        ],
    },
}
