"""Faults planted in what the benches compute and say of a run: shares, steps, arithmetic, tallies."""

from planted_faults.kinds import Faults

SHARES, STEPS = "site/test_shares_script.py::", "site/test_steps_script.py::"
STRONGEST = "test_unless_one_is_chosen_the_head_that_adds_most_and_its_strongest_look_are_followed"
TALLY, BENCH = "site/test_tally_script.py::", "_static/bench/"

FAULTS: Faults = {
    f"{BENCH}shares.js": {
        f"{SHARES}test_shares_add_up_and_are_pytorchs[language-model]": [
            ("each head through the first one's columns", "row[head * width + k]", "row[k]"),
            (
                "the first head's numbers for each",
                "vector.subarray(head * width, (head + 1) * width)",
                "vector.subarray(0, width)",
            ),
            (
                "the second word before the first",
                "rows[a][i] - rows[b][i])) /",
                "rows[b][i] - rows[a][i])) /",
            ),
            ("the mean left in", "pull.map((number) => number - mean)", "pull"),
            (
                "the spread of another place",
                "spreadOf(traces[stack.name][last][place])",
                "spreadOf(traces[stack.name][last][0])",
            ),
            ("the spread of what goes in", "stopsOf(stack).at(-1).name", "stopsOf(stack)[0].name"),
            ("words so far without biases", " + (biases?.[id] ?? 0)", ""),
            ("biases of no word", "if (biases) found.push", "if (!biases) found.push"),
            ("a station's share with those before it", "    before = now;\n", ""),
            ("a network with its biases", "toward) - always.share }", "toward) }"),
            ("weights of the last place", "weights[head][place]]", "weights[head].at(-1)]"),
            ("values of the first head", "sliceOf(values[key], head,", "sliceOf(values[key], 0,"),
            ("a gain that is not there", "(number * (rows[a][i]", "((rows[a][i]"),
        ],
        f"{SHARES}test_so_they_are_when_something_is_changed[language-model]": [
            ("a number set by hand forgotten", "number.name === name)", "false)"),
            ("carried in, for the model's own", 'parts.push({ kind: "carried"', 'parts.push({ kind: "head"'),
        ],
        f"{SHARES}test_shares_add_up_and_are_pytorchs[gpt]": [
            (
                "biases of a table that has none",
                "matrix === stack.head ? word[1] : undefined",
                "norm[1]",
            ),
        ],
    },
    f"{BENCH}steps.js": {
        f"{STEPS}test_every_number_of_every_step_is_pytorchs[language-model]": [
            ("a row as it is multiplied", "row: result.map((number) => number / scale)", "row: result"),
            ("the place with the word", "position: minus(result, given)", "position: result"),
            ("the spread too small", "stream.length + 1e-5)", "(stream.length - 1) + 1e-5)"),
            ("the mean not taken off", "normal = apart.map", "normal = stream.map"),
            ("scores over the width", "score: sum / scale }", "score: sum / narrow }"),
            ("scores not divided", "product(query(), slice(each)) / scale", "product(query(), slice(each))"),
            ("a word that sees later ones", "|| key <= this.place", "|| key >= this.place"),
            (
                "each head through the first one's columns",
                "row.subarray(start, end)",
                "row.subarray(0, narrow)",
            ),
            ("the first head's numbers", "vector.subarray(head * narrow", "vector.subarray(0 * narrow"),
            (
                "a stream without what attention added",
                "      });\n      this.stream = result;\n    }\n\n    // ---- the network",
                "      });\n    }\n\n    // ---- the network",
            ),
            ("neurons by their row", "columnLengths(narrow))", "columnLengths(wide))"),
            ("neurons that fire below zero", "relu: (x) => Math.max(0, x)", "relu: (x) => Math.abs(x)"),
            (
                "a key of the last place",
                "key: slice(keys[key]), products",
                "key: slice(keys.at(-1)), products",
            ),
        ],
        f"{STEPS}test_every_number_of_every_step_is_pytorchs[translator]": [
            (
                "a key made of the asker's own numbers",
                "other: other[source][key]",
                "other: this.trace[part.norm][this.place]",
            ),
            (
                "a mask between the two sides",
                "return part.cross || !this.stack.head",
                "return !this.stack.head",
            ),
        ],
        f"{STEPS}test_every_number_of_every_step_is_pytorchs[gpt]": [
            ("a bend too sharp", "0.044715 * x", "0.44715 * x"),
            ("rows of the GPT multiplied", "ofGpt ? 1 :", "ofGpt ? 2 :"),
        ],
        f"{STEPS}{STRONGEST}[translator]": [
            ("the first head, always", "largestOf(this.shares(part).map(lengthOf))", "0"),
            ("the first key, always", "choice.key : largestOf(weights)", "choice.key : 0"),
        ],
        f"{STEPS}test_changed_runs_are_pytorchs_too[language-model-change4]": [
            ("a hidden word seen", "if (hidden?.has(`${part.memory} ${key}`)) return false;", ""),
        ],
        f"{STEPS}test_changed_runs_are_pytorchs_too[language-model-change5]": [
            ("a mask that stays on", "!this.stack.head || !mask ||", "!this.stack.head ||"),
        ],
        f"{STEPS}test_changed_runs_are_pytorchs_too[language-model-change6]": [
            ("a gain as it was stored", "copy[row] = value", "copy[row] = copy[row]"),
        ],
        f"{STEPS}test_what_was_carried_over_is_pytorchs_and_the_step_says_so[language-model-carried0]": [
            ("carried to each head", 'kind === "mix" ? about.head : undefined', "undefined"),
            ("carried to each place", "one.place === this.place && one.name", "one.name"),
        ],
    },
    f"{BENCH}step_words.js": {
        f"{STEPS}test_the_arithmetic_that_is_written_out_comes_true[language-model]": [
            ("numbers without their sign", "number < 0 && Number(text)", "number > 9"),
            (
                "a sum of what is taken off",
                '.startsWith("−") ? "−" : "+"} ${written(Math.abs(term))}',
                '.startsWith("−") ? "+" : "−"} ${written(Math.abs(term))}',
            ),
        ],
        f"{STEPS}test_what_is_off_or_hidden_is_said": [
            ("heads from 0", "(Head ${head + 1} is off:", "(Head ${head} is off:"),
            ("nothing of a head that is off", "if (off) return `Head", "if (!numbers) return `Head"),
            ("what is hidden called the mask's", "!hidden?.has(`${memory} ${place}`)", "true"),
        ],
    },
    f"{BENCH}step_arithmetic.js": {
        f"{STEPS}test_the_arithmetic_that_is_written_out_comes_true[language-model]": [
            ("a bias forgotten", '[bias ?? 0, bias !== undefined && "bias"]', "[bias ?? 0, false]"),
            ("the others forgotten", 'others && ordinary(others, "other")', "false"),
            ("the others with the few", "!few.includes(i)", "true"),
            ("signs lost", 'startsWith("−") ? "−" : "+"', 'startsWith("−") ? "+" : "+"'),
            (
                "a query of the first head",
                "const row = head * narrow + (n % narrow);",
                "const row = n % narrow;",
            ),
            (
                "what is hidden in the sum",
                "(visible[i] ? Math.exp(score - largest) : 0)",
                "Math.exp(score - largest)",
            ),
            ("the weight of another", "${percent(weights[j])} ×", "${percent(weights[0])} ×"),
            (
                "the stream forgotten",
                "{ first: given[n], bias: bias[n], total: result[n], named",
                "{ first: 0, bias: bias[n], total: result[n], named",
            ),
            ("the mean added", "sumOf([given[n], -mean])", "sumOf([given[n], mean])"),
            ("the logit without its bias", "bias: biases[word], total: logits[word]", "total: logits[word]"),
        ],
        f"{STEPS}test_a_bias_that_is_large_is_in_the_arithmetic_too": [
            ("heads without their bias", '${parts.join("")}${after(bias[n])} (bias)', '${parts.join("")}'),
            ("a neuron without its bias", "bias: biases[most], total: wide[most]", "total: wide[most]"),
            ("a query without its bias", "bias: biases[row], total", "total"),
        ],
    },
    f"{BENCH}anatomy.js": {
        f"{STEPS}test_every_number_of_every_step_is_pytorchs[translator]": [
            ("looking across at itself", 'cross ? "read" : stack', "stack"),
            (
                "the norm of the network for attention",
                "norm: `${around}.norm`,\n    after: around,\n    output",
                "norm: `${layer}.around_feed_forward.norm`,\n    after: around,\n    output",
            ),
            ("the other side's last norm", 'norm: "decoder_norm"', 'norm: "encoder_norm"'),
            (
                "two parts of a layer exchanged",
                '["self_attention", "cross_attention", "feed_forward"]',
                '["cross_attention", "self_attention", "feed_forward"]',
            ),
        ],
        f"{STEPS}test_every_number_of_every_step_is_pytorchs[gpt]": [
            ("neurons of the other kind", 'activation: "gelu"', 'activation: "relu"'),
            ("the stream before the network", "after: name, activation", "after, activation"),
        ],
        f"{SHARES}test_shares_add_up_and_are_pytorchs[translator]": [
            ("one head too few", "part.heads = model.heads", "part.heads = model.heads / 2"),
        ],
    },
    f"{BENCH}tally.js": {
        f"{TALLY}test_as_many_are_right_as_in_pytorch_and_the_same_are_wrong[translator]": [
            (
                "with everything on whatever is off",
                "own.changes = { ...changes, hidden",
                "own.changes = { ...noChanges(), hidden",
            ),
            (
                "an end that may be missing",
                "if (right && ids.length === expected.length + 1) continue",
                "if (right || ids.length === expected.length + 1) continue",
            ),
        ],
        f"{TALLY}test_as_many_are_right_as_in_pytorch_and_the_same_are_wrong[language-model]": [
            ("the word itself for right", "forms.indexOf(verb) ^ 1", "forms.indexOf(verb) ^ 2"),
            (
                "the first place for the last",
                "likeliestOf(logits.at(-1), ids)",
                "likeliestOf(logits[0], ids)",
            ),
        ],
        f"{TALLY}test_as_many_are_right_as_in_pytorch_and_the_same_are_wrong[induction]": [
            ("the first round counted", "let place = round.length;", "let place = 0;"),
            ("judged by its own place", "said === symbols[place + 1]", "said === symbols[place]"),
        ],
        f"{TALLY}test_held_out_text_costs_as_many_bits_as_in_pytorch": [
            ("nats for bits", "Math.log2(softmax", "Math.log(softmax"),
            ("bits of a piece", "bits: bits / bytes", "bits: bits / texts.flat().length"),
        ],
        f"{TALLY}test_what_was_chosen_in_the_sentence_shown_is_left_out_of_others": [
            (
                "hidden in all sentences",
                "{ ...changes, hidden: new Set(), carried: [] }",
                "{ ...changes, carried: [] }",
            ),
        ],
    },
}
