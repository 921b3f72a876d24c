"""Faults planted in the model around attention."""

from planted_faults.kinds import Faults

RELATIVE = "attnlab/test_relative_positions.py::"

FAULTS: Faults = {
    "attnlab/inside": {
        "test_every_attention_is_watched_and_the_outputs_stay": [
            (
                "one attention alone",
                "            watch(name, module)\n",
                "            watch(name, module)\n            break\n",
            ),
        ],
        "test_what_is_kept_are_the_weights_that_an_attention_gives": [
            ("weights not asked for", '{"need_weights": True}', "{}"),
            ("the mix kept", "outputs[1].detach()", "outputs[0].detach()"),
        ],
        "test_nothing_is_watched_behind_the_end": [
            ("watched for good", "        for hook in hooks:\n            hook.remove()", "        pass"),
        ],
        "test_a_head_at_zero_is_its_columns_at_zero": [
            ("the head before", "heads[:, :, head] = found", "heads[:, :, head - 1] = found"),
        ],
        "test_the_others_stay_and_so_does_what_is_caught": [
            ("changed in place", "heads = heads.clone()", "heads = heads"),
            ("a mean for each sequence", ".mean((0, 1))", ".mean(1, keepdim=True)"),
            ("places exchanged", ".flip(0)", ".flip(1)"),
        ],
        "test_heads_are_split_as_the_attention_splits_them": [
            (
                "neighbours in different heads",
                "mixed.view(*mixed.shape[:2], attention.heads, -1)",
                "mixed.view(*mixed.shape[:2], -1, attention.heads).transpose(2, 3)",
            ),
        ],
        "test_the_head_is_back_behind_the_end": [
            ("left behind", "    finally:\n        hook.remove()", "    finally:\n        pass"),
        ],
        "test_a_change_of_the_shape_is_refused": [
            (
                "taken as it comes",
                '        require.same_shape("change must keep the shape", replaced, heads.shape)\n',
                "",
            ),
        ],
    },
    "attnlab/positions": {
        "attnlab/test_transformer.py::test_an_offset_goes_on_where_the_words_before_ended": [
            ("the table's first rows", "rows = self.rows(offset, inputs", "rows = self.rows(0, inputs"),
            ("the learned table's first rows", "self.table[offset:end]", "self.table[: inputs.shape[-2]]"),
        ],
        f"{RELATIVE}TestScores::test_equal_what_they_are_made_of": [
            ("first query aligned with the first key", "rotate(query, offset=m - n)", "rotate(query)"),
            ("keys unturned", "rotate(key))", "key)"),
            (
                "rotary scores twice as large",
                "return scaled_dot(rotate(query",
                "return 2 * scaled_dot(rotate(query",
            ),
            ("bias left out", "scaled_dot(query, key) + bias", "scaled_dot(query, key)"),
        ],
        f"{RELATIVE}TestScores::test_one_head_at_a_time": [
            ("heads unchecked", 'require.axes("query", query, "…", heads=None, n=None, d_k=None)', "pass"),
        ],
        f"{RELATIVE}TestScores::test_keep_the_dtype_and_the_device": [
            ("bias in float32", "query.dtype, query.device)", "device=query.device)"),
            ("bias on the CPU", "query.dtype, query.device)", "query.dtype)"),
        ],
        f"{RELATIVE}TestScores::test_refuse_more_queries_than_keys": [
            (
                "lengths unchecked",
                "    n, m = query.shape[-2], key.shape[-2]\n    require.last_positions(n, m)",
                "    n, m = query.shape[-2], key.shape[-2]",
            ),
        ],
        "TestStretched::test_a_larger_base_leaves_the_fastest_and_divides_the_slowest": [
            ("the slowest pair left, too", "factor**-along", "factor ** -along.flip(0)"),
        ],
        "TestStretched::test_mixed_leaves_fast_pairs_and_divides_slow_ones": [
            ("turns as radians", "longest * frequencies / (2 * math.pi)", "longest * frequencies"),
            ("no end to the straight way", "(fast - slow)).clamp(0, 1)", "(fast - slow))"),
            ("fast pairs divided", "(stays + (1 - stays) / factor)", "(stays / factor + (1 - stays))"),
        ],
        "TestSinusoidal::test_row_0_alternates": [
            ("sine twice", "(angles.sin(), angles.cos())", "(angles.sin(), angles.sin())"),
            ("cosine first", "(angles.sin(), angles.cos())", "(angles.cos(), angles.sin())"),
        ],
        "TestSinusoidal::test_rows_to_the_digit": [
            ("all sines, then all cosines", "dim=-1)  # (length, pairs, 2)", "dim=-2)"),
            ("base 1000", "    base: float = 10000.0,\n", "    base: float = 1000.0,\n"),
            ("exponent doubled", "device=device) / d_model", "device=device) * 2 / d_model"),
        ],
        "TestSinusoidal::test_far_rows_are_as_good_as_near_ones_in_float32": [
            ("angles in float32", ".remainder(2 * math.pi)", ".float().remainder(2 * math.pi)"),
            ("whole turns left on", ".remainder(2 * math.pi)", ""),
        ],
        "TestSinusoidal::test_equals_the_formula": [
            ("an odd width rounded up", "[:, :d_model].to(dtype)", ".to(dtype)"),
        ],
        "TestShiftRotation::test_shifts_every_row": [
            ("shift in the other direction", "shift * _freq", "-shift * _freq"),
            ("sign of the rotation", "= -angles.sin()", "= angles.sin()"),
        ],
        f"{RELATIVE}TestRotary::test_keeps_lengths_and_gradients": [
            ("turned by a matrix that is no rotation", "x * cos - y * sin", "x * cos + y * sin"),
        ],
        f"{RELATIVE}TestRotary::test_equals_complex_multiplication": [
            ("turned the other way", "sin, cos = table", "sin, cos = -table"),
            (
                "pairs half a vector apart",
                "x, y = vectors[..., 0::2], vectors[..., 1::2]",
                "x, y = vectors.chunk(2, dim=-1)",
            ),
            ("offset forgotten", "table[offset:]", "table[: vectors.shape[-2]]"),
        ],
        f"{RELATIVE}TestRotary::test_a_cache_grows_key_by_key": [
            (
                "offset forgotten by the module",
                "_turn(vectors, self.rows(offset,",
                "_turn(vectors, self.rows(0,",
            ),
        ],
        f"{RELATIVE}TestAlibi::test_equals_the_formula": [
            ("ALiBi favours the far", "-slopes[:, None, None]", "slopes[:, None, None]"),
        ],
        f"{RELATIVE}TestAlibi::test_slopes_of_a_power_of_two": [
            ("ALiBi slopes from 1", "for head in range(1, power + 1)", "for head in range(power)"),
        ],
        f"{RELATIVE}TestAlibi::test_slopes_of_other_numbers_of_heads": [
            ("ALiBi slopes twice", "range(1, 2 * power, 2)", "range(2, 2 * power + 1, 2)"),
        ],
        f"{RELATIVE}TestAlibi::test_the_same_in_both_directions": [
            ("ALiBi for the past alone", "device=device)).abs()", "device=device))"),
        ],
        f"{RELATIVE}TestAlibi::test_one_query_at_a_time_with_a_cache": [
            ("ALiBi aligned with the first key", "arange(m - n, m,", "arange(n,"),
        ],
        "TestSinusoidalPositions::test_the_buffer_moves_but_is_neither_trained_nor_saved": [
            ("table saved", "persistent=False", "persistent=True"),
            (
                "table a plain tensor",
                'self.register_buffer("table", table, persistent=False)',
                "self.table = table",
            ),
        ],
        "TestSinusoidalPositions::test_grows_without_changing_what_stood": [
            (
                "table not grown",
                "if end > len(self.table):\n            # A table",
                "if False:\n            # A table",
            ),
        ],
        f"{RELATIVE}TestRotary::test_a_table_grown_in_inference_mode_can_train": [
            ("table grown in inference mode", "torch.inference_mode(False)", "torch.no_grad()"),
        ],
        "TestSinusoidalPositions::test_the_table_is_exact_after_every_change_of_dtype": [
            ("table cast, not made anew", "self.table.copy_(self._table(self.table.shape[-2]))", "pass"),
        ],
        "TestSinusoidalPositions::test_adds_the_row_of_each_position": [
            (
                "length read from the batch",
                "self.rows(offset, inputs.shape[-2])",
                "self.rows(offset, inputs.shape[0])",
            ),
            ("table returned without the words", "inputs + rows", "rows.expand_as(inputs)"),
        ],
        "TestSinusoidalPositions::test_dropout_is_on_the_sum_and_only_in_training": [
            ("dropout before the positions", "self.dropout(inputs + rows)", "self.dropout(inputs) + rows"),
        ],
        "TestLearnedPositions::test_the_longest_sentence_takes_every_row": [
            (
                "last learned row out of reach",
                "if end > len(self.table):\n            raise",
                "if end >= len(self.table):\n            raise",
            ),
        ],
        "TestLearnedPositions::test_starts_as_loud_as_the_sinusoidal_table": [
            ("learned rows too loud", "math.sqrt(0.5)", "1.0"),
        ],
    },
    "attnlab/layers": {
        "TestScaledEmbedding::test_equals_one_hot_times_the_matrix": [
            ("root of d_model dropped", " * math.sqrt(self.weight.shape[-1])", ""),
        ],
        "TestScaledEmbedding::test_a_word_starts_with_variance_1": [
            ("words too loud by the root of d_model", " / math.sqrt(d_model)", ""),
        ],
        "TestLayerNorm::test_eps_is_inside_the_root": [
            ("eps squared, as if outside the root", "self.bias, self.eps)", "self.bias, self.eps**2)"),
        ],
        "TestLayerNorm::test_mean_0_and_variance_1_for_each_vector": [
            (
                "mean left in",
                "F.layer_norm(inputs, self.weight.shape, self.weight, self.bias, self.eps)",
                "F.rms_norm(inputs, self.weight.shape, self.weight, self.eps) + self.bias",
            ),
            (
                "one mean for all positions",
                "F.layer_norm(inputs, self.weight.shape, self.weight, self.bias, self.eps)",
                "F.layer_norm(inputs, inputs.shape[-2:], eps=self.eps) * self.weight + self.bias",
            ),
        ],
        "TestLayerNorm::test_half_precision_is_rounded_once": [
            (
                "squares in float16",
                "F.layer_norm(inputs, self.weight.shape, self.weight, self.bias, self.eps)",
                "(x := inputs - inputs.mean(-1, keepdim=True)) * x.square().mean(-1, keepdim=True).rsqrt()",
            ),
        ],
        "TestLayerNorm::test_equals_pytorch_in_float32": [
            ("gain left out", "self.weight, self.bias, self.eps", "None, self.bias, self.eps"),
        ],
        "TestFeedForward::test_equals_the_formula": [
            ("feed-forward without relu", "self.widen(inputs).relu()", "self.widen(inputs)"),
        ],
        "TestResidual::test_post_norm_and_pre_norm": [
            ("residual dropped", "inputs + self.dropout(added)", "self.dropout(added)"),
            (
                "norm before and after exchanged",
                "return outputs if self.norm_first else self.norm(outputs)",
                "return self.norm(outputs) if self.norm_first else outputs",
            ),
            (
                "normalised before in either order",
                "self.norm(inputs) if self.norm_first else inputs",
                "self.norm(inputs)",
            ),
        ],
        "TestResidual::test_dropout_leaves_the_inputs": [
            ("dropout on the sum", "inputs + self.dropout(added)", "self.dropout(inputs + added)"),
        ],
        "TestBothLayers::test_padding_does_not_matter": [
            ("memory without its mask", "mask=memory_mask", "mask=None"),
        ],
        "test_self_attention_takes_a_score": [
            (
                "encoder without its score",
                "score)\n        self.around_self_attention = Residual(d_model, dropout, norm_first)\n"
                "        self.feed",
                "scaled_dot)\n        self.around_self_attention = Residual(d_model, dropout, norm_first)\n"
                "        self.feed",
            ),
            (
                "decoder without its score",
                "score)\n        self.around_self_attention = Residual(d_model, dropout, norm_first)\n"
                "        self.cross",
                "scaled_dot)\n        self.around_self_attention = Residual(d_model, dropout, norm_first)\n"
                "        self.cross",
            ),
            (
                "self-attention's score for memory",
                "self.cross_attention = MultiHeadAttention(d_model, heads, dropout)",
                "self.cross_attention = MultiHeadAttention(d_model, heads, dropout, score)",
            ),
        ],
        "TestDecoderLayer::test_equals_pytorch": [
            (
                "decoder without self-attention",
                "vectors, lambda x: self.cross_attention",
                "inputs, lambda x: self.cross_attention",
            ),
        ],
    },
    "attnlab/decoding": {
        "test_a_beam_as_wide_as_all_rows_finds_the_likeliest": [
            ("stops at the first end", "if not going_on.any():", "if ended.any():"),
        ],
        "test_a_beam_of_one_takes_the_likeliest_word_at_each_step": [
            ("one too many", "topk(min(width, sums", "topk(min(width + 1, sums"),
        ],
        "test_what_comes_back_is_as_likely_as_it_says": [
            ("rows mixed up", "[rows[before], words", "[rows[: len(before)].expand(len(before), -1), words"),
        ],
        "test_states_follow_their_rows": [
            ("states left behind", "state[before]\n", "state[:1].expand(len(before), -1)\n"),
        ],
        "test_where_nothing_ends_it_is_cut": [
            (
                "nothing comes back",
                "            best, best_total = rows[0], totals[0]\n    return",
                "            pass\n    return",
            ),
        ],
        "attnlab/test_decoding_faster.py::test_each_row_of_a_batch_gets_what_it_gets_alone": [
            ("the filler in sight", "places[:, None] >= 0)", "places[:, None] > -longest)"),
            ("padded texts see ahead", "combine(causal(longest), ", "combine("),
        ],
        "attnlab/test_decoding_faster.py::test_what_the_filler_is_does_not_matter": [
            ("the first filler in sight", "places[:, None] >= 0)", "places[:, None] >= -1)"),
        ],
        "attnlab/test_decoding_faster.py::test_places_count_from_each_texts_own_start": [
            ("padded on the right", "[filler] * many + [*row]", "[*row] + [filler] * many"),
            ("places below 0", "places.clamp(min=0)", "places"),
            ("a filler that sees nothing", "visible | torch.eye(longest, dtype=torch.bool)", "visible"),
        ],
        "attnlab/test_decoding_faster.py::test_rows_that_are_none_are_refused": [
            ("rows unchecked", "    require.rows_of_ids(rows)\n", ""),
            ("any filler", "    require.at_least(0, filler=filler)\n", ""),
        ],
        "attnlab/test_decoding_faster.py::test_the_likeliest_stays_the_likeliest": [
            ("what was refused stays in the caches", "reading.cut(ids.shape[1] - 1)", "reading.cut(10**6)"),
            ("refused guesses stay in the text", "text[:, : ids.shape[1] + agreed]", "text"),
            ("chances one place early", "logits[0, -last:]", "logits[0, -last - 1 :][:last]"),
        ],
        "attnlab/test_decoding_faster.py::test_its_draws_have_the_chances_of_the_model": [
            ("drawn anew from all chances", "left = (left - q[agreed]).clamp(min=0)", "pass"),
            (
                "kept where the helper is surer",
                "generator=source) * small[guess] >= large[guess]",
                "generator=source) * large[guess] >= small[guess]",
            ),
            ("every guess kept", "generator=source) * small[guess] >=", "generator=source) * 0 >="),
        ],
        "attnlab/test_decoding_faster.py::test_guesses_are_kept_as_often_as_the_chances_overlap": [
            ("kept by the model's chance alone", "* small[guess] >= large[guess]", ">= large[guess]"),
            ("the rest turned over", "(left - q[agreed]).clamp", "(q[agreed] - left).clamp"),
        ],
        "attnlab/test_decoding_faster.py::test_what_was_kept_is_not_read_twice": [
            ("all read anew", "cache.cut(min(length, cache.length))", "cache.cut(0)"),
        ],
        "attnlab/test_decoding_faster.py::test_a_refusal_by_rounding_alone_draws_from_the_model": [
            (
                "nothing left to draw from",
                "if agreed < len(q) and (left - q[agreed]).max() > 0:",
                "if agreed < len(q):",
            ),
        ],
        "attnlab/test_decoding_faster.py::test_the_last_piece_needs_no_guess": [
            ("a guess too many at the end", "end - ids.shape[1] - 1)", "end - ids.shape[1])"),
        ],
        "attnlab/test_decoding_faster.py::test_what_cannot_be_written_is_refused": [
            ("rows of guesses", "    require.one_row(ids)\n", ""),
            ("no guesses", "    require.at_least(1, guesses=guesses)\n", ""),
            ("the helper's end unseen", "min(model.longest, helper.longest)", "model.longest"),
            (
                "other words",
                '        require.same_shape("helper must give chances", small, large.shape)\n',
                "",
            ),
        ],
    },
    "attnlab/transformer": {
        "TestTransformer::test_equals_pytorch": [
            ("no last norm for the reader", "return self.encoder_norm(vectors)", "return vectors"),
            ("no last norm for the writer", "self.word(self.decoder_norm(vectors))", "self.word(vectors)"),
            ("padding that is read", "vectors = layer(vectors, mask)", "vectors = layer(vectors)"),
            ("padding that is looked at", "memory, so_far, memory_mask)", "memory, so_far)"),
        ],
        "TestTransformer::test_words_are_scaled_and_positions_added": [
            ("no positions for what is read", "self.positions(self.read(source))", "self.read(source)"),
            (
                "no positions for what is written",
                "self.positions(self.written(previous))",
                "self.written(previous)",
            ),
        ],
        "TestTransformer::test_no_word_sees_those_after_it": [
            (
                "a writer that sees ahead",
                "layer(vectors, memory, so_far, memory_mask)",
                "layer(vectors, memory, None, memory_mask)",
            ),
        ],
        "TestLanguageModel::test_equals_layers_one_after_the_other": [
            ("no last norm", "self.word(self.norm(vectors))", "self.word(vectors)"),
            ("post-norm", "dropout, norm_first=True)", "dropout, norm_first=False)"),
        ],
        "TestLanguageModel::test_with_a_cache_it_says_the_same": [
            ("every word at the first place", "offset=before)", "offset=0)"),
            (
                "what is kept is hidden",
                "causal(words.shape[1], before + words.shape[1], words.device)",
                "causal(words.shape[1], before + words.shape[1], words.device).roll(-before, -1)",
            ),
        ],
    },
}
