"""Faults planted in the machinery: claims, weights, lists, the playground's models."""

from planted_faults.kinds import Faults

CHARTS = "bookkit/pictures/test_charts.py::"

TRANSLATORS = "chapters/translating_with_attention/test_models.py::"

READERS = "chapters/looking_inside/test_models.py::"

TRANSFORMERS = "chapters/the_transformer/test_models.py::"

FAULTS: Faults = {
    "bookkit/memory": {
        "test_memory_of_known_allocations": [
            ("all that was ever held", "return max(totals) - before", "return sum(totals) - before"),
        ],
    },
    "bookkit/weights": {
        "test_weights_come_back_and_so_do_the_losses": [
            ("left in training mode", "    model.eval()\n", ""),
            ("losses in 16 bits", "np.array(losses)", "np.array(losses, dtype=np.float16)"),
            ("weights in 8 bits", ".cpu().half().numpy()", ".cpu().mul(127).round().div(127).half().numpy()"),
        ],
        "test_what_was_noted_comes_back_apart_from_the_weights": [
            ("a note taken for a weight", " if not label.startswith(NOTE)}", "}"),
            ("weights taken for notes", "        if label.startswith(NOTE)\n", ""),
            ("under another name", "label.removeprefix(NOTE)", "label"),
        ],
        "test_what_16_bits_can_t_hold_is_refused": [
            ("infinity stored", "np.isfinite(array)", "(array == array)")
        ],
        "test_weights_that_are_not_there_are_told_with_what_makes_them": [
            ("not looked for", "if not file.exists():", "if False:"),
        ],
        "test_without_another_folder_they_lie_in_the_book": [
            (
                "elsewhere",
                "os.environ.get(FOLDER_VARIABLE) or STORED",
                "os.environ.get(FOLDER_VARIABLE, '.')",
            ),
        ],
    },
    "chapters/three_ways_to_read_a_sequence/starts": {
        "test_a_gru_begins_as_pytorchs_does": [
            (
                "by the width of all three parts",
                "bound=1 / math.sqrt(h)) for name",
                "bound=1 / math.sqrt(3 * h)) for name",
            ),
        ],
        "test_the_other_readers_begin_as_pytorchs_layers_do": [
            ("as if its windows had one place", "bound=bound / math.sqrt(2)", "bound=bound"),
        ],
        "test_a_seed_gives_the_same_weights_and_no_two_models_share_any": [
            (
                "all letters drawn alike",
                "uniform(source, models, 2 * letters + 1, d, bound=math.sqrt(3))",
                "uniform(source, 1, 2 * letters + 1, d, bound=math.sqrt(3)).repeat(models, 1, 1)",
            ),
        ],
    },
    "chapters/three_ways_to_read_a_sequence/times": {
        "test_each_reader_hears_all_that_came_and_nothing_that_comes": [
            ("padding behind the text", "(2**layer, 0)", "(0, 2**layer)"),
            ("attention to what comes", ", mask=masks.causal(x.shape[1])", ""),
            ("a layer too few", "math.ceil(math.log2(x.shape[1]))", "int(math.log2(x.shape[1]))"),
        ],
        "test_medians_are_of_turns_taken_side_by_side": [
            ("means", "statistics.median(times", "statistics.mean(times"),
        ],
        "test_a_power_is_found_again": [
            ("a line through nothing", "x - x.mean(), y - y.mean()", "x, y"),
        ],
        "test_two_powers_cross_where_they_are_equal": [
            (
                "between lengths as on a ruler",
                "(lengths[place] / lengths[place - 1]) ** share",
                "(1 + share)",
            ),
        ],
    },
    "chapters/three_ways_to_read_a_sequence/number_words": {
        "test_words_are_spelled_as_in_english": [("fourty", '"forty"', '"fourty"')],
        "test_rows_say_the_words_and_what_comes_before_is_one_place_later": [
            ("not shifted", "= marked[1:]", "= marked[:-1]"),
        ],
        "test_every_number_is_known_or_held_out_and_each_word_of_the_latter_is_known": [
            ("what is held out known, too", " - set(held_out.tolist())", ""),
        ],
    },
    "chapters/looking_inside/models": {
        f"{READERS}test_a_sequence_repeats_with_its_period": [
            ("one period for all", "LONGEST + 1, (count, 1)", "SHORTEST + 1, (count, 1)"),
            ("half of the symbols", "randint(len(SYMBOLS), (count", "randint(len(SYMBOLS) // 2, (count"),
        ],
        f"{READERS}test_known_is_what_has_been_before": [
            ("a place too early", ">= self.periods", ">= self.periods - 1"),
        ],
        f"{READERS}test_the_loss_counts_what_could_be_known": [
            ("the first round counted", "where = read.known[:, :-1]", "where = read.known[:, :-1] | True"),
        ],
        f"{READERS}test_who_looks_one_back_is_a_previous_token_head": [
            (
                "all rounds counted",
                "first_round = ~read.known[:, 1:]",
                "first_round = read.known[:, 1:] | True",
            ),
            ("itself", "weights.diagonal(-1, 2, 3)", "weights.diagonal(0, 2, 3)[..., 1:]"),
        ],
        f"{READERS}test_who_looks_behind_the_same_word_is_an_induction_head": [
            ("at the same word", "== before[:, None]", "== read.words[:, None]"),
        ],
        f"{READERS}test_a_recipe_keeps_the_first_and_the_notes_of_all": [
            ("the last kept", "model, history = runs[0]", "model, history = runs[-1]"),
            ("seeds shared", "SEEDS * seed + each", "seed + each"),
        ],
    },
    "chapters/looking_inside/circuits": {
        "test_a_head_that_asks_with_its_place_looks_so_many_places_back": [
            ("places to come", "roll(what.back, 1)", "roll(-what.back, 1)"),
            ("a head in another's place", "heads.get((layer, head), EVEN)", "heads.get((head, layer), EVEN)"),
        ],
        "test_an_induction_head_looks_behind_its_word_and_says_what_stands_there": [
            ("found where it asks", "key[:size, _block(what.finds)]", "key[:size, _block(what.asks)]"),
            (
                "written elsewhere",
                "out_proj.weight[_block(what.writes), own]",
                "out_proj.weight[_block(what.finds), own]",
            ),
        ],
        "test_without_who_stood_before_an_induction_head_finds_its_own_word": [
            ("nothing but who stood before", "key[:size, _block(what.also)] = _ones(size) / 3", "pass"),
        ],
        "test_the_others_look_evenly": [
            ("others that look", "sharp=0, loud=0.1", "sharp=1, loud=0.1"),
        ],
        "test_what_is_known_of_a_place_is_its_word_and_its_place": [
            ("blocks that overlap", '"place": 12', '"place": 11'),
            ("a word that outshouts its place", "_ones(WORDS) / _D_MODEL**0.5", "_ones(WORDS)"),
        ],
        "test_who_is_heard_by_nobody_looks_as_surely_and_says_nothing": [
            ("heard after all", '"unread": 56', '"unread": 44'),
            ("a look like another", '"unread", sharp=3.0', '"unread", sharp=1.0'),
        ],
        "test_a_louder_head_finds_more_of_the_same": [
            ("one loudness", "what.loud * _ones(WORDS)", "_ones(WORDS)"),
        ],
        "test_a_surer_model_says_the_same_louder": [("one sureness", "sure * _ones(WORDS)", "_ones(WORDS)")],
        "test_a_seed_draws_the_same_model_and_nothing_of_pytorchs": [
            ("PyTorch's numbers used up", "with torch.random.fork_rng(devices=[]), torch", "with torch"),
            ("one seed", "generator(seed)", "generator(0)"),
        ],
        "test_all_is_drawn_but_the_norms": [
            (
                "norms drawn as well",
                'if "norm" not in name:\n            parameter.data',
                "if name:\n            parameter.data",
            ),
        ],
        "test_a_model_is_in_use_and_says_what_it_is": [
            ("left in training", "        self.eval()\n", ""),
            ("a layer in the plural", "if len(self.layers) > 1", "if len(self.layers) > 0"),
        ],
    },
    "chapters/the_transformer/models": {
        f"{TRANSFORMERS}test_a_text_is_its_words_and_what_was_there_before_each": [
            ("targets not shifted", "row[1:] for row in rows", "row[:-1] for row in rows"),
        ],
        f"{TRANSFORMERS}test_the_learning_rate_climbs_and_then_falls_to_nothing": [
            ("no warm-up", "(update + 1) / warm_up", "1.0"),
            ("never slower", "max(0, updates - update) / (updates - warm_up)", "1.0"),
        ],
        f"{TRANSFORMERS}test_a_sentence_is_translated_alone_as_among_others": [
            (
                "padding read",
                "mask = masks.padding(lengths, source.shape[1])",
                "mask = torch.ones(len(source), 1, source.shape[1], dtype=torch.bool)",
            ),
        ],
        f"{TRANSFORMERS}test_models_that_are_compared_are_of_one_size": [
            ("twice as wide", "Recurrent(len(WORDS), width=112)", "Recurrent(len(WORDS), width=224)"),
        ],
    },
    "chapters/translating_with_attention/models": {
        f"{TRANSLATORS}test_sentences_are_the_pairs_in_numbers": [
            ("no end to read", "pair.english), END]", "pair.english), START]"),
            ("words before not moved", "row[:-1] for row in written", "row[1:] for row in written"),
        ],
        f"{TRANSLATORS}test_gold_weights_are_the_alignment_spread_evenly": [
            ("sums of two", "    gold /= gold.sum(-1, keepdim=True).clamp(min=1)\n", ""),
            (
                "the end not aligned",
                "(*pair.alignment, (len(pair.english), len(pair.lingo)))",
                "pair.alignment",
            ),
        ],
        f"{TRANSLATORS}test_what_is_measured_with_was_not_learned_from": [
            ("what was learned measured, too", "if pair.english not in seen", ""),
        ],
        f"{TRANSLATORS}test_batches_hold_every_sentence_once_and_little_padding": [
            (
                "always in one order",
                "torch.randperm(len(self), generator=self.source).tolist()",
                "range(len(self))",
            ),
            ("not by length", "learned.lengths.argsort(stable=True)", "torch.arange(len(learned.lengths))"),
        ],
        f"{TRANSLATORS}test_word_by_word_or_all_at_once_is_the_same": [
            ("the first state handed on", "return logits, state, torch", "return logits, memory.last, torch"),
        ],
        f"{TRANSLATORS}test_a_sentence_is_translated_alone_as_among_others": [
            (
                "padding read",
                "lengths.cpu(), batch_first",
                "lengths.cpu() * 0 + lengths.max().cpu(), batch_first",
            ),
        ],
        f"{TRANSLATORS}test_bahdanau_looks_before_its_step_and_luong_after": [
            (
                "padding looked at",
                "self.score(states, memory.states), memory.mask)",
                "self.score(states, memory.states))",
            ),
        ],
        f"{TRANSLATORS}test_given_weights_take_the_place_of_its_own": [
            (
                "given weights forgotten",
                "looking = weights[:, step : step + 1]",
                "looking = masked_softmax(self.score(state[:, None], memory.states), memory.mask)",
            ),
        ],
        f"{TRANSLATORS}test_exactly_right_is_up_to_the_end": [
            (
                "padding compared",
                "((words == targets) | (targets == PADDING)).all(-1)",
                "(words == targets).all(-1)",
            ),
        ],
        f"{TRANSLATORS}test_the_learning_rate_falls_to_nothing": [
            ("always the same", "    optimizer.register_step_post_hook(lambda *_: falling.step())\n", ""),
        ],
    },
    "bookkit/claims": {
        "test_a_claim_that_does_not_hold_raises": [
            (
                "NaN accepted",
                "if not (math.isfinite(value) and bound.low <= value <= bound.high):",
                "if value < bound.low or value > bound.high:",
            ),
            ("infinity accepted", "math.isfinite(value) and bound.low", "bound.low"),
            ("upper bound ignored", " <= bound.high", ""),
            ("False accepted", 'Bound(True, True, "true")', 'Bound(False, True, "true")'),
            ("false claims printed", "raise ClaimError(", "print("),
            ("abs taken as a share", "Bound(expected - abs,", "Bound(expected - abs * expected,"),
        ],
        "test_a_claim_that_holds_prints_its_sentence_and_bound": [
            ("bound left out of itself", "bound.low <= value <=", "bound.low < value <="),
            ("equal bounds refused", "at_least > at_most", "at_least >= at_most"),
            ("rel taken as abs", "margin = rel * math.fabs(expected)", "margin = rel"),
            ("rel of a negative number", "margin = rel * math.fabs(expected)", "margin = rel * expected"),
        ],
        "test_a_claim_without_a_sentence_is_refused": [
            ("a blank taken for a sentence", "if not sentence.strip():", "if not sentence:"),
        ],
        "test_in_a_notebook_what_is_true_is_not_also_measured": [
            (
                "true measured as 1",
                "if isinstance(value, bool) else short(value, digits)",
                "if False else '1'",
            ),
        ],
        "test_a_claim_that_could_not_fail_or_makes_no_sense_is_refused": [
            ("infinite bound accepted", "if not math.isfinite(number)", "if math.isnan(number)"),
            ("a negative margin accepted", 'in ("rel", "abs") and number < 0', 'in ("abs",) and number < 0'),
            (
                "both margins accepted",
                '{"expected", "abs"})',
                '{"expected", "abs"}, {"expected", "rel", "abs"})',
            ),
            ("many numbers taken for one", "if number.numel() != 1:", "if number.numel() < 1:"),
            ("a bound for what is true or false", "        if given:\n", "        if False:\n"),
        ],
        "test_in_a_notebook_the_plain_text_never_depends_on_the_measured_value": [
            ("measured value in the plain text", "{sentence} [", "{sentence} {value} ["),
        ],
        "test_in_a_notebook_a_claim_is_also_data_for_whatever_reads_claims": [
            ("the record's value rounded", '"measured": value,', '"measured": float(short(value)),'),
            ("the bound's numbers left out", '"numbers": given,', '"numbers": {},'),
            ("signs of HTML in a sentence", "html.escape(sentence)", "sentence"),
        ],
        "test_what_was_measured_shows_no_fewer_digits_than_its_bound": [
            ("three digits for all", "max([FEWEST_DIGITS, *(", "max([FEWEST_DIGITS, *(0 * "),
            ("digits of the margin counted", 'if name not in ("rel", "abs")', "if name"),
        ],
        "test_a_count_shows_all_its_digits": [
            ("a count with an exponent", "math.fabs(number) < 1e9", "math.fabs(number) < 1e5"),
        ],
    },
    "bookkit/registry": {
        "test_a_chapter_says_what_it_is_called_how_long_it_takes_and_what_for": [
            ("the title with its sign", 'removeprefix("# ")', 'removeprefix("#")'),
            ("cells of any kind", 'self.cells if cell["cell_type"] == "markdown"', "self.cells"),
            ("dashes in a package's name", 'self.name.replace("-", "_")', "self.name"),
        ],
        "test_a_drawing_may_stand_above_the_goals_and_the_sections_come_after": [
            ("the first cell alone", '"\\n\\n".join(texts)', "texts[0]"),
            ("the whole chapter", '.partition("\\n## ")[0]', ""),
        ],
        "test_the_first_goal_ends_where_it_ends": [
            ("a goal with its full stop", "(.+?)[;.]?", "(.+?)[;]?"),
        ],
        "test_a_chapter_has_the_claims_of_all_its_cells_in_order": [
            ("the claims of code that displays nothing else", 'output.get("data", {})', 'output["data"]'),
            (
                "the claims of the first cell alone",
                "for cell in self.cells for output",
                "for cell in self.cells[:2] for output",
            ),
        ],
        "test_an_appendix_is_a_notebook_and_no_chapter": [
            ("appendices among the chapters", " if chapter.part != APPENDICES]", "]"),
        ],
        "test_the_order_is_that_of_the_contents_and_other_pages_are_no_chapters": [
            ("chapters by name", "in listed(contents)]", "in sorted(listed(contents))]"),
            ("every page taken for a chapter", " if chapter.notebook.exists()]", "]"),
            ("parts without a name", 'part = entry.get("caption", part)', "pass"),
        ],
        "test_a_chapter_that_is_not_there_is_refused_with_those_that_are": [
            ("a chapter that is not there", "if not notebook.exists():", "if False:"),
        ],
    },
    "chapters/buffers_parameters_and_plain_tensors/charts": {
        f"{CHARTS}test_what_who_follows_says_of_an_operation": [
            ("saved whatever is a buffer", '"Is it in there?", KINDS[:3]', '"Is it in there?", KINDS[:4]'),
            ("yes and no exchanged", '"no: " + _listed', '"yes: " + _listed'),
        ],
    },
    "chapters/epochs_batches_iterations/charts": {
        f"{CHARTS}test_how_one_epoch_counts": [
            ("a share rounded down", ": ceil(examples / workers)", ": floor(examples / workers)"),
            ("iterations of all workers", 'iterations="updates"', 'iterations="updates * workers"'),
        ],
    },
    "chapters/from_words_to_vectors/charts": {
        f"{CHARTS}test_who_is_nearest_on_the_map_of_words": [
            ("lengths left out", "/ sqrt(datum.square * datum.other_square)", "/ datum.square"),
            ("the farthest first", 'order="descending"', 'order="ascending"'),
        ],
    },
    "chapters/from_words_to_vectors/counting": {
        "chapters/from_words_to_vectors/test_counting.py::test_neighbours_share_a_sentence_and_a_window": [
            ("one short on the right", "place + window + 1", "place + window"),
            ("beside itself", "if other != place", "if other >= 0"),
        ],
        "chapters/from_words_to_vectors/test_counting.py::test_surprise_is_a_logarithm": [
            ("seldom as negative", ".clamp(min=1).log()", ".log()"),
        ],
    },
    "chapters/from_words_to_vectors/skip_gram": {
        "chapters/from_words_to_vectors/test_skip_gram.py::test_each_text_draws_its_own_pairs": [
            ("all from the first text", "first[:, None, None] + (share", "0 * first[:, None, None] + (share"),
            ("texts share their rows", "pairs + vocabulary * place", "pairs + 0 * place"),
        ],
    },
    "chapters/what_is_attention/front_page": {
        f"{CHARTS}test_what_the_soft_look_up_finds": [
            ("degrees taken for radians", "datum.angle) * PI / 180)", "datum.angle))"),
            ("weights summed without their values", "datum.weight * datum.legs", "datum.weight"),
        ],
    },
    "chapters/queries_keys_and_values_that_learn/charts": {
        f"{CHARTS}test_whom_through_training_shows_at_each_step": [
            ("the step before", "history[steps / {EVERY}]", "history[steps / {EVERY} - 1]"),
            (
                "the chaser framed",
                "chased[datum.asking] == datum.place",
                "chased[datum.place] == datum.asking",
            ),
        ],
    },
    "chapters/text_as_tensors/charts": {
        f"{CHARTS}test_how_much_padding_and_cutting_cost": [
            ("nothing cut", "min(datum.tokens, row)", "datum.tokens"),
            ("padding as a share of the tokens", "datum.reviews * row)", "datum.tokens)"),
        ],
    },
    "chapters/two_ways_to_score/charts": {
        f"{CHARTS}test_what_the_general_score_of_the_field_is": [
            ("turned to the right", "-query_y * {x} + query_x", "query_y * {x} - query_x"),
            ("the lowest score as the best", 'best="argmax(score)"', 'best="argmin(score)"'),
        ],
    },
    "chapters/what_is_attention/charts": {
        f"{CHARTS}test_what_the_soft_dictionary_answers": [
            (
                "multiplied by the temperature",
                "abs(query - datum.key) / temp",
                "abs(query - datum.key) * temp",
            ),
            ("the far key favoured", '"-abs(query', '"abs(query'),
        ],
    },
    "chapters/where_am_i/charts": {
        f"{CHARTS}test_how_alike_the_rows_of_the_position_table_are": [
            (
                "sine twice",
                "? cos(datum.position * datum.frequency)",
                "? sin(datum.position * datum.frequency)",
            ),
            ("no pairs of columns", "datum.column - datum.column % 2", "datum.column"),
        ],
    },
    "chapters/where_am_i/reader": {
        "chapters/where_am_i/test_reader.py::test_what_the_jobs_ask": [
            ("copied from two back", "target[:, 3:] = ids[:, :-3]", "target[:, 2:] = ids[:, :-2]"),
        ],
        "chapters/where_am_i/test_reader.py::test_the_last_places_alone_get_the_same_answers": [
            (
                "late queries turned as if they came first",
                "rotate(query, length - asked,",
                "rotate(query, 0,",
            ),
        ],
    },
    "chapters/who_may_look_where/charts": {
        f"{CHARTS}test_where_the_weight_goes_under_a_mask": [
            ("filler at the same end", "datum.key <= {PLACES} - words", "datum.key > words"),
            ("oneself hidden", "datum.key > datum.query ? 1", "datum.key >= datum.query ? 1"),
            ("either mask for both", "mask == 'padding' || mask == 'both'", "mask == 'padding'"),
        ],
    },
    "chapters/why_divide_by_root_dk/charts": {
        f"{CHARTS}test_how_far_the_softmax_saturates": [
            ("divided by the root for d_k", "'d_k': d_k}", "'d_k': sqrt(d_k)}"),
            ("entropy without its sign", "? -datum.weight * log", "? datum.weight * log"),
        ],
    },
}
