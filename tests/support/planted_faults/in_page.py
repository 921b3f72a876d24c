"""Faults planted in the models that run in the page."""

from planted_faults.kinds import Faults

SCRIPT, GPT = "site/test_transformer_script.py::", "site/test_gpt_script.py::"

FAULTS: Faults = {
    "chapters/looking_inside/playground": {
        "test_the_head_that_is_shown_looks_most_behind_an_earlier_copy": [
            ("the other head", "int(scores[place].argmax())", "int(scores[place].argmin())"),
        ],
        "test_the_picture_tells_each_letters_chance_in_the_second_round": [
            ("chances a place too early", "zip(text[1:], rows", "zip(text, rows"),
            ("the second round for the first", "max(shares[: len(round_) - 1])", "max(shares)"),
            ("a round too few", "cells[len(round_) :]", "cells[2 * len(round_) :]"),
        ],
        "test_the_picture_says_what_the_model_says_and_fits_a_phone": [
            ("what was likeliest at first", "int(rows[-1].argmax())", "int(rows[0].argmax())"),
        ],
    },
    "_static/model.js": {
        f"{SCRIPT}test_every_tensor_is_pytorchs[translator]": [
            ("numbers without their sign", "high & 0x80 ? -1 : 1", "1"),
            (
                "weights that end where their query stood",
                "longer.set(row);",
                "longer.set(row, length - row.length);",
            ),
        ],
        f"{SCRIPT}test_every_change_is_that_of_pytorch[language model]": [
            ("a vector for each place behind it", "!(place in vectors)", "false"),
            ("a vector for all stacks and names", "|| carried.name !== name ||", "||"),
            ("a head's vector at the start", "(head ?? 0) * width", "0"),
            (
                "a number in the row of another",
                "(changed[row] = given[row].slice())[column]",
                "(changed[0] = given[row].slice())[column]",
            ),
            (
                "only the last of several numbers",
                "this.edited[name] = changed;",
                "this.edited = { [name]: changed };",
            ),
            ("without the mask few at once", "run.mask ? AT_ONCE : ids.length", "AT_ONCE"),
        ],
        f"{SCRIPT}test_every_change_is_that_of_pytorch[what is written]": [
            ("a vector for both stacks", "carried.stack !== this.stack || ", ""),
        ],
        f"{SCRIPT}test_what_was_changed_is_whole_again[language-model]": [
            ("a number set in the model's own row", "given[row].slice())[column]", "given[row])[column]"),
            (
                "a number set in the model's own matrix",
                "const changed = given.slice();",
                "const changed = given;",
            ),
        ],
        f"{SCRIPT}test_a_run_that_is_given_up_or_goes_on_beside_another_changes_nothing[gpt]": [
            (
                "traces of a run that is not at its end",
                "this.trace = this.traces[stack] = {};",
                "this.trace = this.model.traces[stack] = this.traces[stack] = {};",
            ),
        ],
        f"{SCRIPT}test_place_by_place_all_comes_out_as_at_once[two-layers]": [
            (
                "keys that can't be forgotten",
                "Math.min(tensor.length, count)",
                "Math.max(tensor.length, count)",
            ),
            ("weights that can't be forgotten", 'name.endsWith(".weights") ? tensor : [tensor]', "[tensor]"),
        ],
        f"{SCRIPT}test_what_does_not_exist_is_named[a head too many]": [
            ("any head", "!(isWithin(head, this.heads) && IN_HEADS.test(name))", "!IN_HEADS.test(name)"),
        ],
        f"{SCRIPT}test_what_does_not_exist_is_named[a head where there are none]": [
            (
                "heads anywhere",
                "isWithin(head, this.heads) && IN_HEADS.test(name)",
                "isWithin(head, this.heads)",
            ),
        ],
        f"{SCRIPT}test_what_does_not_exist_is_named[an attention that no layer has]": [
            ("any attention", "!isAttention || ", ""),
        ],
        f"{SCRIPT}test_what_does_not_exist_is_named[a vector among weights]": [
            ("weights for a vector", ' || name.endsWith(".weights"))', ")"),
        ],
        f"{SCRIPT}test_what_does_not_exist_is_named[a vector too short]": [
            ("a vector of any length", "vector.length !== width", "vector.length > width"),
        ],
        f"{SCRIPT}test_what_does_not_exist_is_named[a column of a vector]": [
            ("columns of a vector", ": column === undefined)", ": true)"),
        ],
        f"{SCRIPT}test_what_does_not_exist_is_named[half a place]": [
            ("halves", "/^(0|[1-9]\\d*)$/.test(number) && ", ""),
        ],
    },
    "_static/transformer.js": {
        f"{SCRIPT}test_every_tensor_is_pytorchs[translator]": [
            ("scores as large as they come", " / Math.sqrt(query.length);", ";"),
            ("embeddings as small as they are", "number * Math.sqrt(table[id].length)", "number"),
            ("cosines first", "? Math.cos(angle) : Math.sin(angle)", "? Math.sin(angle) : Math.cos(angle)"),
            ("positions that begin anew", "row(before + t, vector.length)", "row(t, vector.length)"),
            ("no word sees itself", "j <= before + i", "j < before + i"),
            ("a word that sees the first alone", "j <= before + i", "j <= i"),
            ("a spread around zero", "(number - middle) ** 2", "number ** 2"),
            ("no residual", "added(vector, more[i])", "more[i]"),
            ("a hidden layer that lets everything through", "Math.max(0, number)", "number"),
            (
                "the next heads' numbers",
                "vector.subarray(start, start + width)",
                "vector.subarray(width, 2 * width)",
            ),
            ("what was read once more for each word", "!memory || !run.trace[`${name}.keys`]", "true"),
            ("a decoder that reads itself", "x, false, memory)", "x, false)"),
        ],
        f"{SCRIPT}test_every_tensor_is_pytorchs[two-layers]": [
            ("sines for what was learned", "table ? tableRow(table, t) :", ""),
        ],
        f"{SCRIPT}test_every_change_is_that_of_pytorch[what is read, from what is written]": [
            ("a head that stays on", "!run.off.has(`${name} ${head}`)", "true"),
            ("all heads off at once", "!run.off.has(`${name} ${head}`)", "!run.off.size"),
            ("places of another stack hidden", "`${stack} ${j}`", "`${run.stack} ${j}`"),
        ],
        f"{SCRIPT}test_every_change_is_that_of_pytorch[what is written]": [
            ("a mask that stays on", "vectors, run.mask, memory)", "vectors, true, memory)"),
            (
                "what stood before the newest word kept",
                "words.length === 1 || !run.mask",
                "words.length === 1",
            ),
        ],
        f"{SCRIPT}test_every_change_is_that_of_pytorch[language model]": [
            ("positions that stay on", "run.positions ? added(", "true ? added("),
            ("a share of nothing", "if (largest === -Infinity) return shares;", ""),
            ("what is hidden seen", "shown[j] && ", ""),
        ],
        f"{SCRIPT}test_translations_are_pytorchs_word_for_word": [
            (
                "a word too few",
                "words.at(-1) !== this.end)",
                "words.at(-1) !== this.end && words.length < 5)",
            ),
            ("the least likely word", "Math.max(...logits)", "Math.min(...logits)"),
        ],
        f"{SCRIPT}test_behind_the_last_learned_place_nothing_is_read[two-layers]": [
            ("places without end", "t >= table.length", "t > table.length"),
        ],
    },
    "_static/gpt.js": {
        f"{GPT}test_texts_are_cut_as_python_cuts_them": [
            ("a half for no word", "\\\\p{L}\\\\p{Nl}\\\\p{No}", "\\\\p{L}\\\\p{Nl}"),
            ("the space before a word by itself", "` ?[\\\\p{L}", "`[\\\\p{L}"),
            (
                "the merge that stands first",
                "reduce((least, rank) => Math.min(least, rank), Infinity)",
                "find((rank) => rank < Infinity) ?? Infinity",
            ),
            ("two pieces made of three", "256 + ranks[i++]", "256 + ranks[i]"),
        ],
        f"{SCRIPT}test_every_tensor_is_pytorchs[gpt]": [
            ("steps from the wrong zero", "code < 92 ? 80 : 81", "code < 92 ? 81 : 82"),
            ("a bend too sharp", "0.044715 * x", "0.44715 * x"),
            ("nothing added on the way", "plus(between, more)", "plus(stream, more)"),
            ("places that begin anew", '"places.weight"), before + t)', '"places.weight"), t)'),
        ],
        f"{SCRIPT}test_every_change_is_that_of_pytorch[gpt]": [
            ("a mask that stays on", "queries, run.mask)", "queries, true)"),
            ("places that stay", "run.positions ? rows :", "true ? rows :"),
        ],
        f"{SCRIPT}test_the_page_may_do_something_else_every_few_milliseconds[False-gpt]": [
            (
                "a thousand chances for all at once",
                "      yield;\n    }\n    return logits;",
                "    }\n    return logits;",
            ),
        ],
        f"{GPT}test_chances_all_along_a_text_are_pytorchs_however_it_came_about": [
            ("a text that is another's beginning", "different < 0 ? now.length : different", "now.length"),
            ("no new beginning", "half * (Math.floor(t / half) - 1)", "0"),
            ("what was forgotten remembered", "from === this.from && run.mask", "run.mask"),
        ],
    },
    "_static/bench/chances.js": {
        f"{GPT}test_what_is_drawn_from_is_as_attnlab_says": [
            ("a piece too few", "before - powers[id] < topP * total", "before <= topP * total"),
            ("temperature upside down", "** (1 / temperature)", "** temperature"),
        ],
    },
}
