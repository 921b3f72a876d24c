"""Faults planted in a GPT of one's own, in its run and in its rivals."""

from planted_faults.kinds import Faults

FAULTS: Faults = {
    "attnlab/transformer": {
        "TestGPT::test_equals_pytorch": [
            (
                "heads and columns mixed up",
                "unflatten(-1, (3, self.heads, -1))",
                "unflatten(-1, (3, -1, self.heads)).mT",
            ),
            ("values before keys", "query, key, value = parts", "query, value, key = parts"),
            (
                "no places",
                "self.dropout(self.pieces(ids) + self.places(places))",
                "self.dropout(self.pieces(ids))",
            ),
            (
                "the stream lost in attention",
                "stream = stream + self.dropout(self.attention",
                "stream = self.dropout(self.attention",
            ),
            (
                "the stream read before its norm",
                "self.widen(self.before_network(stream))",
                "self.widen(stream)",
            ),
            ("a gelu without its approximation", ', approximate="tanh")', ")"),
            (
                "no last norm of the GPT",
                "F.linear(self.norm(stream), self.pieces.weight)",
                "F.linear(stream, self.pieces.weight)",
            ),
        ],
        "TestGPT::test_no_piece_sees_those_after_it": [
            ("a GPT that sees ahead", "is_causal=True", "is_causal=False"),
        ],
        "TestGPT::test_it_has_as_many_weights_as_gpt_2": [
            (
                "narrower networks",
                "self.widen = nn.Linear(d_model, 4 * d_model)",
                "self.widen = nn.Linear(d_model, 4 * d_model, bias=False)",
            ),
        ],
        "TestGPT::test_it_starts_as_gpt_2_does": [
            ("always GPT-2's spread", "self.start(spread)", "self.start()"),
            ("one layer, always", "start(self, spread, len(self.blocks))", "start(self, spread, 1)"),
        ],
        "TestGPT::test_dropout_is_for_training_only": [
            ("dropout of weights always", "self.dropout if self.training else 0.0", "self.dropout"),
            ("no dropout of weights", "self.dropout if self.training else 0.0", "0.0"),
        ],
        "TestGPT::test_dropout_falls_where_gpt_2_has_it": [
            (
                "no dropout of pieces",
                "self.dropout(self.pieces(ids) + self.places(places))",
                "self.pieces(ids) + self.places(places)",
            ),
            ("no dropout of what the network adds", "self.dropout(self.narrow(wide))", "self.narrow(wide)"),
        ],
        "TestGPT::test_sizes_that_cannot_be_are_refused": [
            ("no vocabulary", "at_least(1, vocabulary=vocabulary, d_model", "at_least(1, d_model"),
            ("dropout of everything", "        require.dropout(dropout)\n", ""),
        ],
        "TestGPT::test_ids_that_it_has_no_pieces_or_places_for_are_refused": [
            ("ids unchecked", "        require.ids(ids, len(self.pieces.weight), self.context)\n", ""),
        ],
    },
    "attnlab/layers": {
        "attnlab/test_transformer.py::TestGPT::test_it_starts_as_gpt_2_does": [
            ("what adds up starts large", "if adds else 1)", "if False else 1)"),
            ("a block counted once", "math.sqrt(2 * layers)", "math.sqrt(layers)"),
            ("the output alone", 'endswith(("write.weight", "narrow.weight"))', 'endswith("write.weight")'),
            (
                "PyTorch's biases",
                '0 if name.endswith("bias") else 1)',
                '0.1 if name.endswith("bias") else 1)',
            ),
            ("norms at 0", '0 if name.endswith("bias") else 1)', "0)"),
        ],
        "attnlab/today/test_model.py::test_sizes_that_cannot_be_are_refused": [
            ("a start without a spread", "    require.above_zero(spread=spread)\n    for", "    for"),
        ],
    },
    "attnlab/require": {
        "test_what_is_well_passes": [
            ("the last piece refused in a merge", "0 <= number < known for", "0 <= number < known - 1 for"),
            (
                "the last id refused",
                "if not 0 <= number < vocabulary]",
                "if not 0 <= number < vocabulary - 1]",
            ),
            ("32 bits refused", "not in (torch.int64, torch.int32):", "not in (torch.int64,):"),
            ("a full context refused", "if given.shape[1] > context:", "if given.shape[1] >= context:"),
            ("no ids refused", "if given.numel() and not 0 <=", "if not 0 <="),
            ("the longest crop refused", "if length >= len(row):", "if length >= len(row) - 1:"),
        ],
        "test_a_value_that_cannot_work_raises_and_says_why": [
            ("an empty text", "    if not text:\n", "    if False:\n"),
            ("a merge of three", "if len(pair) != 2 or not all(", "if not all("),
            ("a merge from below 0", "all(0 <= number < known", "all(number < known"),
            ("an id from below 0", "if not 0 <= number < vocabulary]", "if not number < vocabulary]"),
            ("ids from below 0", "not 0 <= int(given.min()) <=", "not int(given.min()) <="),
            ("ids of any shape", '    axes("ids", given, B=None, T=None)\n', ""),
            ("a crop of the whole row", "if length >= len(row):", "if length > len(row):"),
            (
                "other names unseen",
                "sorted(wanted.keys() | came.keys())",
                "sorted(wanted.keys() & came.keys())",
            ),
        ],
        "test_the_wrong_kind_of_thing_raises_and_says_why": [
            ("bytes for a text", "if not isinstance(text, str):", "if False:"),
            ("ids that are no whole numbers", "not in (torch.int64, torch.int32):", "in ():"),
        ],
    },
    "attnlab/training/run": {
        "test_crops_begin_everywhere_and_are_of_the_row": [
            (
                "the last start left out",
                "torch.randint(len(row) - length, (rows, 1)",
                "torch.randint(len(row) - length - 1, (rows, 1)",
            ),
            (
                "a target that is the id itself",
                "return cut[:, :-1], cut[:, 1:]",
                "return cut[:, :-1], cut[:, :-1]",
            ),
        ],
        "test_crops_come_from_their_own_dice": [
            ("other dice", "(rows, 1), generator=source)", "(rows, 1))"),
        ],
        "test_each_id_but_the_first_is_foretold_once": [
            ("windows side by side", "step, length = length // 2,", "step, length = length,"),
            ("the last ids left out", "    if left:\n", "    if False:\n"),
            ("the last window whole", "+ [left] * (left > 0)", "+ [step] * (left > 0)"),
            ("short rows not foretold", "min(length, len(row) - 1)", "length"),
            ("the first half forgotten", "counted = [length] + [step]", "counted = [step] + [step]"),
            ("the earliest ids counted", "each[-last:] for", "each[:last] for"),
        ],
        "test_what_is_foretold_comes_back_without_dropout_or_gradients": [
            ("foretold under dropout", "    model.eval()\n    nats", "    nats"),
            ("gradients kept", "with torch.no_grad():", "with torch.enable_grad():"),
        ],
        "test_bits_per_byte_are_8_for_who_knows_nothing_of_bytes": [
            ("nats per byte", " / math.log(2) / text_bytes", " / text_bytes"),
        ],
        "test_every_text_has_its_end": [
            ("no ends", "for number in (*text, end)]", "for number in text]"),
        ],
        "test_the_rate_rises_on_a_line_and_falls_on_a_cosine": [
            ("a first update of nothing", "return (update + 1) / warm_up", "return update / warm_up"),
            (
                "a fall that ends at 0",
                "least + (1 - least) * (1 + math",
                "0 * least + (1 - least) * (1 + math",
            ),
            ("a fall from the first update on", "(update - warm_up) / max", "update / max"),
            ("a run that only warms up breaks off", "max(1, updates - warm_up)", "(updates - warm_up)"),
        ],
        "test_matrices_decay_and_nothing_else": [
            ("norms decay", '"weight_decay": 0.0}]', '"weight_decay": decay}]'),
            ("biases among the matrices", "if weight.dim() > 1]", "if weight.dim() > 0]"),
        ],
        "test_an_update_is_the_one_written_by_hand": [
            ("no clipping", "        nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)\n", ""),
            ("Adam's usual memory", "betas=(0.9, 0.99)", "betas=(0.9, 0.999)"),
            ("a rate that stays", "        self.schedule.step()\n", ""),
            ("no decay", "groups(model, decay)", "groups(model, 0.0)"),
            ("always the same crops", "manual_seed(seed)", "manual_seed(0)"),
        ],
        "test_parts_add_up_to_the_whole": [
            ("the mean of parts", "(len(some) / len(ids))", "(1 / self.parts)"),
            (
                "all at once",
                "zip(ids.chunk(self.parts), targets.chunk(self.parts)",
                "zip(ids.chunk(1), targets.chunk(1)",
            ),
            ("the last part's loss", "total += loss.item()", "total = loss.item()"),
        ],
        "test_a_run_ends_when_its_updates_are_made": [
            ("a run without end", "min(updates, self.updates - self.done)", "updates"),
            ("a run that never drops out", "        self.model.train()\n", "        self.model.eval()\n"),
            (
                "dropout behind the run",
                "                bar.update()\n        self.model.eval()\n",
                "                bar.update()\n",
            ),
        ],
        "test_who_watches_is_told_the_loss": [
            (
                "no word of the loss",
                'bar.set_postfix_str(f"loss {self.losses[-1]:.3f}", refresh=False)',
                "pass",
            ),
            ("a bar that stands", "                bar.update()\n", ""),
        ],
        "test_a_run_that_was_saved_goes_on_to_the_same_bits": [
            ("a fresh model", '        self.model.load_state_dict(state["model"])\n', ""),
            (
                "a fresh optimizer",
                'self.optimizer.load_state_dict(copy.deepcopy(state["optimizer"]))',
                "pass",
            ),
            ("the rate from the start", '        self.schedule.load_state_dict(state["schedule"])\n', ""),
            ("crops from the start", '        self.source.set_state(state["crops"])\n', ""),
            ("other dropout", "        torch.set_rng_state(processor)\n", ""),
        ],
        "test_two_runs_go_on_from_one_state_and_do_not_mix": [
            ("an optimizer shared", 'copy.deepcopy(state["optimizer"])', 'state["optimizer"]'),
            ("losses shared", 'list(state["losses"])', 'state["losses"]'),
        ],
        "test_an_update_that_was_broken_off_leaves_no_gradients": [
            (
                "gradients only taken away behind an update",
                "        self.optimizer.zero_grad()  # also of an update that somebody broke off\n",
                "        if self.done:\n            self.optimizer.zero_grad()\n",
            ),
        ],
        "test_a_checkpoint_of_other_sizes_is_refused": [
            ("any checkpoint", '        require.same_sizes(self.model, state["model"])\n', ""),
        ],
        "test_what_cannot_be_trained_is_refused": [
            ("no parts", "rows=rows, parts=parts,", "rows=rows,"),
        ],
    },
    "chapters/a_gpt_of_your_own/rivals": {
        "test_chances_are_those_of_the_formula": [
            (
                "shorter grams by how often",
                "np.unique(grams & ((1 << BITS * length) - 1), return_counts=True)",
                "np.unique(packed(ids, length), return_counts=True)",
            ),
            (
                "an unknown context guesses",
                "np.where(known, longer, shorter)",
                "np.where(known, longer, 1 / vocabulary)",
            ),
            ("one discount for all", "[np.minimum(counts, 3)]", "[np.minimum(counts, 1)]"),
            ("a discount of twice for thrice", "3 - 4 * share * four", "3 - 3 * share * four"),
            (
                "an unseen gram gets the next one's",
                "np.where(seen, order.shares[place], 0)",
                "order.shares[place]",
            ),
        ],
        "test_chances_sum_to_1_behind_any_context": [
            ("discounts kept", "(counts - discounts) / behind", "counts / behind"),
            (
                "short rows break off",
                "np.zeros(max(0, len(ids) - length + 1)",
                "np.zeros(len(ids) - length + 1",
            ),
        ],
        "test_behind_are_the_chances_of_all_ids": [
            (
                "a context that is too long",
                "before[len(before) - length + 1 :]",
                "before[len(before) - length :]",
            ),
            ("the last id of a context left out", "(last[0] + 1) << BITS]", "((last[0] + 1) << BITS) - 1]"),
        ],
        "test_what_cannot_be_counted_is_refused": [
            ("six ids in 64 bits", "order > 63 // BITS or order > len(row)", "order > len(row)"),
            ("ids of any size", "        require.ids(row[None], 1 << BITS, len(row))\n", ""),
        ],
        "test_ids_outside_the_vocabulary_are_refused": [
            ("a large vocabulary", "min(vocabulary, 1 << BITS)", "vocabulary"),
        ],
        "test_what_was_read_before_costs_next_to_nothing": [
            ("packed alone", "(before, before + text))", '("", text))'),
        ],
        "test_bits_are_of_bytes_and_as_xz_packs_them": [
            ("bits of a letter", "/ len(text.encode())", "/ len(text)"),
            ("nothing to pack", "    require.some_text(text)\n", ""),
        ],
        "test_the_lstm_sees_nothing_ahead_and_has_one_table": [
            (
                "an LSTM that sees ahead",
                "self.lstm(self.pieces(ids))[0]",
                "self.lstm(self.pieces(ids).flip(1))[0].flip(1)",
            ),
        ],
        "test_its_table_starts_as_large_as_was_best": [
            ("PyTorch's table", "        nn.init.normal_(self.pieces.weight, std=0.24)\n", ""),
        ],
    },
    "chapters/is_it_any_good/their_names": {
        "test_theirs_with_our_weights_says_the_same": [
            ("matrices not turned", "weight.T if weight.dim() == 2", "weight if weight.dim() == 2"),
            (
                "norms the other way round",
                '"blocks.*.before_network": "transformer.h.*.ln_2"',
                '"blocks.*.before_network": "transformer.h.*.ln_1"',
            ),
        ],
        "test_ours_with_their_weights_says_the_same": [
            ("one block for all", '.replace("*", block)', '.replace("*", "0")'),
            ("tables turned, too", ' and ".h." in their_name', ""),
        ],
        "test_both_ends_share_one_table": [
            ("a table of its own lost", "if not torch.equal(", "if False and not torch.equal("),
        ],
    },
}
