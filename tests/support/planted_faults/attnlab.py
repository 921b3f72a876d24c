"""Faults planted in the subject."""

from planted_faults.kinds import Faults

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
    "attnlab/corpora/grammar": {
        "test_every_word_of_either_side_is_aligned": [
            ("first words alone aligned", "for j in range(len(others))", "for j in range(1)"),
        ],
        "test_entries_of_several_words": [
            ("word by word", "for i in range(len(words)) for j", "for i in range(1) for j"),
        ],
        "test_parts_keep_their_alignment_wherever_they_stand": [
            ("English places not moved on", "(len(english) + i, starts", "(i, starts"),
            ("Lingo places not moved on", "starts[place] + j)", "j)"),
            ("Lingo in the order of English", "for place in order:", "for place in sorted(order):"),
        ],
        "test_an_alignment_crosses_where_two_lines_do": [
            ("lines that part taken for crossing", "i < k and j > m", "i <= k and j > m"),
        ],
        "test_aligned_words_are_each_other_s_translation": [
            ("another stem", "lingo[:-1] + ending", "lingo[:-2] + ending"),
            ("the future left out in Lingo", '"era" + "n"', '"e" + "n"'),
        ],
        "test_what_describes_a_noun_ends_as_it_does": [
            (
                "adjectives always in o",
                'described.insert(0, entry(word, stem.replace("-", ending)))',
                'described.insert(0, entry(word, stem.replace("-", "o")))',
            ),
            (
                "determiners always in o",
                '[entry(word, stem.replace("-", ending)), *described]',
                '[entry(word, stem.replace("-", "o")), *described]',
            ),
            (
                "adjectives in the order of English",
                "order=[0, *range(1, len(described))[::-1]]",
                "order=range(len(described))",
            ),
        ],
        "test_a_verb_agrees_with_its_subject": [
            ("the future of one", '"era" + "n" * plural', '"era"'),
            ("the present of one in Lingo", '"e" + "n" * plural', '"e"'),
            ("the present of several in English", 'word + "s" * (not plural)', "word"),
            (
                "owners first",
                "order=range(len(described))[::-1]), plural",
                "order=range(len(described))), plural",
            ),
        ],
        "test_both_sides_have_the_same_number": [
            ("nouns of one in English", 'entry(noun + "s" * plural,', "entry(noun,"),
        ],
        "test_this_and_an_owner_agree_in_english": [
            ("this dogs", "PLURALS.get(word, word) if plural else word", "word"),
            ("one mark for all owners", '"\'" if owners else "\'s"', '"\'s"'),
        ],
        "test_no_adjective_comes_twice_in_a_phrase": [
            ("adjectives again", "            del unused[word]\n", "")
        ],
        "test_most_alignments_cross": [("adjectives seldom", "self.chance(0.55)", "self.chance(0.4)")],
        "test_sentences_are_short_and_long": [
            ("owners' owners without end", "if self.chance(0.2):", "if self.chance(0.4):"),
            ("another clause always", "clauses > 1 and self.chance(0.35)", "clauses > 1"),
        ],
        "test_the_same_source_writes_the_same_sentences": [
            ("chance from elsewhere", "torch.rand((), generator=self.source)", "torch.rand(())"),
            (
                "words from elsewhere",
                "torch.randint(len(words), (), generator=self.source)",
                "torch.randint(len(words), ())",
            ),
        ],
    },
    "attnlab/corpora/grammar_check": {
        "test_both_sides_of_every_pair_are_sentences": [
            ("what is owned as many as its owners", 'number = ""  # what', "pass  # what"),
            (
                "one owner alone",
                '            self.take("possessive")\n            self.phrase()',
                '            self.take("possessive")',
            ),
        ],
        "test_a_sentence_less_one_word_that_is_no_adjective_is_none": [
            (
                "no object needed",
                'if self.verb(self.phrase()) == "transitive verb":',
                'self.verb(self.phrase())\n        if not self.sees("end", "preposition", "conjunction"):',
            ),
        ],
        "test_what_is_wrong_in_english": [
            ("any number", "agreeing and form and form != agreeing", "False"),
            (
                "no number after a determiner",
                'number = self.take("noun", number)',
                'number = self.take("noun")',
            ),
            ("owners of any number", 'self.take("possessive", number)', 'self.take("possessive")'),
            ("the verb after will as without", 'number = "plural"\n', "pass\n"),
            ("nothing said at the end", 'came = "nothing" if', 'came = "" if'),
            ("places counted from 0", "word {self.place + 1} must", "word {self.place} must"),
        ],
        "test_what_is_wrong_in_lingo": [
            ("adjectives of any ending", 'self.take("adjective", ending)', 'self.take("adjective")'),
            (
                "a noun of any ending",
                '"" if owned else self.take("determiner")',
                '("" if owned else self.take("determiner")) and ""',
            ),
            (
                "se before all",
                'return self.take_verb(number, "reflexive verb")',
                "return self.take_verb(number, *VERBS)",
            ),
            ("no se before any", '"transitive verb", "intransitive verb")', "*VERBS)"),
            ("a verb for one", '"plural" if ending.endswith("s") else "singular"', '"singular"'),
        ],
    },
    "attnlab/corpora/reviews": {
        "test_rows_are_ragged_and_filled_up_at_the_back": [
            ("as many long ones as short ones", "generator=source).square()", "generator=source)"),
            ("filled up one place early", ">= lengths[:, None], PADDING", ">= lengths[:, None] - 1, PADDING"),
        ],
        "test_every_review_has_an_opinion_and_most_agree_with_its_verdict": [
            ("opinions of their own", "generator=source) < 0.85)", "generator=source) < 0.5)"),
            ("short reviews without any", "has_it = (opinion == 0) | ", "has_it = "),
        ],
        "test_opinions_stand_mostly_near_the_two_ends": [
            ("opinions anywhere", "torch.where(where < 0.85, from_the_end, anywhere)", "anywhere"),
        ],
    },
    "attnlab/scores": {
        "TestFormulas::test_scaled_dot": [
            ("scale dropped", " / math.sqrt(query.shape[-1])", ""),
            ("divided by d_k", "math.sqrt(query.shape[-1])", "query.shape[-1]"),
            ("multiplied by the root", "query / math.sqrt", "query * math.sqrt"),
            ("root of the length", "sqrt(query.shape[-1])", "sqrt(query.shape[-2])"),
        ],
        "TestFormulas::test_scaled_dot_stays_in_range_where_dot_overflows": [
            (
                "scaled after the product",
                "dot(query / math.sqrt(query.shape[-1]), key)",
                "dot(query, key) / math.sqrt(query.shape[-1])",
            ),
        ],
        "TestFormulas::test_general": [
            ("general matrix transposed", "query @ weight, key", "query @ weight.T, key"),
        ],
        "TestFormulas::test_concat_of_query_and_key_end_to_end": [
            (
                "concat halves exchanged",
                "weight[:, :d_query], weight[:, d_query:]",
                "weight[:, d_query:], weight[:, :d_query]",
            ),
        ],
        "TestFormulas::test_additive_plain_and_lean": [
            ("tanh dropped", ").tanh_()", ")"),
            ("key subtracted", "query.unsqueeze(-2) + key", "query.unsqueeze(-2) - key"),
        ],
        "TestLeanAdditive::test_equals_plain": [
            (
                "queries left over after the last full chunk",
                "torch.split(query, chunk, dim=-2)]",
                "torch.split(query, chunk, dim=-2)[: query.shape[-2] // chunk]]",
            ),
            ("no gradient for the queries", "lean(some, key", "lean(some.detach(), key"),
            ("no gradient for the keys", "lean(some, key", "lean(some, key.detach()"),
            ("no gradient for the vector", "key, vector) for some", "key, vector.detach()) for some"),
            ("a way back that takes all inputs or none", "use_reentrant=False", "use_reentrant=True"),
        ],
        "TestLeanAdditive::test_memory_is_a_sixteenth_of_plain": [
            ("hidden numbers kept for the way back", "lean(some, key", "_pair_by_pair(some, key"),
        ],
        "TestLeanAdditive::test_auto_holds_the_cache_full_and_no_more": [
            ("chunk ignored", "query, chunk, dim", "query, query.shape[-2], dim"),
            ("chunk chosen without the batch", "leading.numel() * ", ""),
        ],
        "TestLeanAdditive::test_no_queries_or_no_keys": [
            ("division by no keys", "max(1, elements)", "elements"),
        ],
        "TestModules::test_chunk_reaches_the_function": [
            ("module without its chunk", "self.vector, self.chunk)", "self.vector, None)"),
        ],
        "TestModules::test_parameters_are_drawn_as_linear_draws_its_weight": [
            ("drawn by the width of the output", "1 / math.sqrt(shape[-1])", "1 / math.sqrt(shape[0])"),
        ],
        "TestErrors::test_width": [
            ("widths unchecked", "    require.matching(query, key)\n", ""),
        ],
        "TestErrors::test_additive_weights": [
            (
                "weights of the keys unchecked",
                'require.axes("key_weight", key_weight, hidden=hidden, d_key=key.shape[-1])',
                "pass",
            ),
        ],
    },
    "attnlab/masks": {
        "TestPadding::test_takes_every_whole_number": [
            ("first padded key shown", "positions < lengths", "positions <= lengths"),
            ("padding shown and words hidden", "positions < lengths", "positions >= lengths"),
            ("padding along the wrong axis", "lengths[:, None])[:, None]", "lengths[:, None])[None]"),
            ("cut to the shortest", "int(lengths.max())", "int(lengths.min())"),
        ],
        "TestCausal::test_without_a_cache_is_what_is_causal_means": [
            ("one step of the future shown", ".tril(m - n)", ".tril(m - n + 1)"),
            ("a position hidden from itself", ".tril(m - n)", ".tril(m - n - 1)"),
            ("future shown and past hidden", ".tril(m - n)", ".triu(m - n)"),
        ],
        "TestCausal::test_shows_the_past_and_the_last_query_sees_the_last_key": [
            ("first query aligned with the first key", ".tril(m - n)", ".tril()"),
        ],
        "TestCombine::test_takes_any_number_of_masks": [
            ("shown by any mask instead of all", "combined & mask", "combined | mask"),
            ("last mask alone", "combined & mask", "mask"),
        ],
        "TestConversions::test_round_trips": [
            ("heads of the first example for all", "attn_mask[::heads]", "attn_mask[:heads]"),
            ("heads before examples", "mask.unsqueeze(1)", "mask.unsqueeze(0)"),
            ("True = keep given as key_padding_mask", '_mask": ~mask[:, 0]', '_mask": mask[:, 0]'),
            ("True = keep given as attn_mask", '_mask": ~mask[0]', '_mask": mask[0]'),
        ],
        "TestConversions::test_both_of_pytorchs_attentions_see_just_what_the_mask_shows": [
            (
                "examples of one head made neighbours",
                "repeat_interleave(heads, dim=0)",
                "repeat(heads, 1, 1)",
            ),
        ],
        "TestConversions::test_one_row_for_all_is_padding_of_one_example": [
            ("padding of one example given as attn_mask", "if n == 1:", "if n == 1 and batch > 1:"),
        ],
        "TestConversions::test_reads_both_masks_of_the_module_together": [
            ("True = block taken as it is", "append(~attn_mask[None])", "append(attn_mask[None])"),
        ],
        "TestConversions::test_reads_two_axes_of_scaled_dot_product_attention": [
            ("True = keep taken for block", "return attn_mask[None]", "return ~attn_mask[None]"),
        ],
        "TestConversions::test_errors": [
            (
                "module's masks unchecked",
                "require.masks_of_multihead(heads, attn_mask, key_padding_mask)",
                "pass",
            ),
        ],
        "TestBatchTimeMask::test_is_refused_everywhere_and_told_what_to_write": [
            ("masks to combine unchecked", "require.masks(masks)", "pass"),
        ],
    },
    "attnlab/attention": {
        "attnlab/test_transformer.py::TestCache::test_what_is_new_stands_behind_what_is_kept": [
            (
                "new before old",
                "torch.cat([self.keys, keys], dim=-2)",
                "torch.cat([keys, self.keys], dim=-2)",
            ),
            (
                "nothing kept",
                "        self.keys, self.values = keys, values\n        return",
                "        return",
            ),
        ],
        "attnlab/test_transformer.py::TestCache::test_attention_over_a_cache_is_attention_over_all": [
            ("a cache that is not asked", "if cache is not None:", "if False:"),
        ],
        "TestAttend::test_equals_the_definition": [
            ("softmax over the queries", "lowered.softmax(-1)", "lowered.softmax(-2)"),
            ("visible only where all keys are", ".any(-1, keepdim=True)", ".all(-1, keepdim=True)"),
        ],
        "TestMaskedSoftmax::test_without_a_mask_is_the_softmax_over_keys": [
            (
                "softmax over the queries, without a mask",
                "return scores.softmax(-1)",
                "return scores.softmax(-2)",
            ),
        ],
        "TestAttend::test_padding_never_matters": [
            ("mask reversed", "torch.where(mask, 0.0, drop)", "torch.where(mask, drop, 0.0)"),
            ("fused kernel without the mask", "attn_mask=mask,", "attn_mask=None,"),
        ],
        "TestScoresInAttend::test_any_score": [
            ("mask after the softmax", "lowered.softmax(-1) * visible", "scores.softmax(-1) * mask"),
            ("fused kernel for every score", "score is scaled_dot and not need_weights", "not need_weights"),
        ],
        "TestAttend::test_scores_of_ten_thousand": [
            ("nothing hidden", "scores + torch.where(mask, 0.0, drop)", "scores"),
        ],
        "TestAttend::test_half_precision": [
            ("masked in float32", "-math.inf, 0.0).to(scores.dtype)", "-math.inf, 0.0)"),
        ],
        "TestAttend::test_a_query_that_sees_nothing": [
            ("nothing visible gives a uniform row", " * visible.to(scores.dtype)", ""),
            ("nothing visible gives NaN", "-math.inf, 0.0", "-math.inf, -math.inf"),
        ],
        "TestAttend::test_dropout_zeroes_some_weights_and_scales_the_others": [
            ("weights never dropped", "F.dropout(weights, dropout)", "weights"),
            (
                "weights returned after dropout",
                "weights = masked_softmax(scores, mask)",
                "weights = F.dropout(masked_softmax(scores, mask), dropout)",
            ),
            ("fused kernel without dropout", "dropout_p=dropout)", "dropout_p=0.0)"),
        ],
        "TestAttend::test_without_weights_they_are_never_held": [
            ("fused kernel never used", "if score is scaled_dot and not need_weights:", "if False:"),
            ("fused kernel given three axes", "query.dim() == key.dim() == value.dim() == 3", "False"),
        ],
        "TestAttend::test_equals_pytorchs_own": [
            ("fused kernel without the scale", "dropout_p=dropout)", "dropout_p=dropout, scale=1.0)"),
        ],
        "TestMaskedSoftmax::test_no_visible_score_is_too_low": [
            ("-1e9 in place of -inf", "-math.inf, 0.0", "-1e9, 0.0"),
        ],
        "TestMaskedSoftmax::test_a_hidden_score_changes_nothing_and_gets_no_gradient": [
            ("mask reversed", "torch.where(mask, scores, drop)", "torch.where(mask, drop, scores)"),
            ("mask forgotten", "torch.where(mask, scores, drop)", "scores + 0"),
        ],
        "TestMultiHeadAttention::test_each_head_scores_with_the_score_it_is_given": [
            ("score lost on the way to the heads", "score=self.score,", "score=scaled_dot,"),
        ],
        "TestMultiHeadAttention::test_a_score_that_learns_is_part_of_the_module": [
            ("score hidden from the module", "self.score = score", "self.score = lambda *x: score(*x)"),
        ],
        "TestMultiHeadAttention::test_dropout_while_training_only": [
            ("dropout in eval mode", "self.dropout if self.training else 0.0", "self.dropout"),
            ("dropout never", "self.dropout if self.training else 0.0", "0.0"),
        ],
        "TestMultiHeadAttention::test_equals_pytorchs_own": [
            (
                "view without transpose",
                "return x.transpose(1, 2)",
                "return x.view(len(x), self.heads, x.shape[1], -1)",
            ),
            ("neighbouring numbers to different heads", "self.heads, -1)", "-1, self.heads).transpose(2, 3)"),
            ("heads put together without transpose", ".transpose(1, 2).flatten(2)", ".reshape(query.shape)"),
            (
                "queries and keys exchanged",
                "query_weight, key_weight, value_weight =",
                "key_weight, query_weight, value_weight =",
            ),
            (
                "biases left out",
                "query_bias, key_bias, value_bias = self",
                "query_bias, key_bias, value_bias = 0 * self",
            ),
            (
                "values projected as keys are",
                "value, value_weight, value_bias",
                "value, key_weight, value_bias",
            ),
            ("output matrix left out", "return self.out_proj(output), weights", "return output, weights"),
        ],
        "TestErrors::test_heads_divide_d_model": [
            ("heads unchecked", "require.divisor(heads, d_model)", "pass"),
        ],
        "TestMultiHeadAttention::test_padding_acts_on_examples_and_not_on_heads": [
            (
                "mask lost on the way to the heads",
                "mask=None if mask is None else for_heads(mask)",
                "mask=None",
            ),
            (
                "mask of examples on heads",
                "mask=None if mask is None else for_heads(mask)",
                "mask=None if mask is None else for_heads(mask).transpose(0, 1)",
            ),
        ],
        "TestMultiHeadAttention::test_key_defaults_to_query_and_value_to_key": [
            ("values from the queries", "value = key if", "value = query if"),
        ],
        "TestErrors::test_mask_shape": [
            (
                "mask unchecked before the softmax",
                "require.mask_fits(mask, scores.shape, scores.device)",
                "pass",
            ),
            (
                "mask unchecked before the fused kernel",
                "require.mask_fits(mask, _scores_shape(query, key), query.device)",
                "pass",
            ),
        ],
        "TestGate::test_each_feature_by_its_own_share": [
            ("shares of a gate that sum to 1", "attention * features", "attention.softmax(-1) * features"),
        ],
    },
    "attnlab/positions": {
        "attnlab/test_transformer.py::test_an_offset_goes_on_where_the_words_before_ended": [
            ("the table's first rows", "rows = self.rows(offset, inputs", "rows = self.rows(0, inputs"),
            ("the learned table's first rows", "self.table[offset:end]", "self.table[: inputs.shape[-2]]"),
        ],
        "TestScores::test_equal_what_they_are_made_of": [
            ("first query aligned with the first key", "rotate(query, offset=m - n)", "rotate(query)"),
            ("keys unturned", "rotate(key))", "key)"),
            (
                "rotary scores twice as large",
                "return scaled_dot(rotate(query",
                "return 2 * scaled_dot(rotate(query",
            ),
            ("bias left out", "scaled_dot(query, key) + bias", "scaled_dot(query, key)"),
        ],
        "TestScores::test_one_head_at_a_time": [
            ("heads unchecked", 'require.axes("query", query, "…", heads=None, n=None, d_k=None)', "pass"),
        ],
        "TestScores::test_keep_the_dtype_and_the_device": [
            ("bias in float32", "query.dtype, query.device)", "device=query.device)"),
            ("bias on the CPU", "query.dtype, query.device)", "query.dtype)"),
        ],
        "TestScores::test_refuse_more_queries_than_keys": [
            (
                "lengths unchecked",
                "    n, m = query.shape[-2], key.shape[-2]\n    require.last_positions(n, m)",
                "    n, m = query.shape[-2], key.shape[-2]",
            ),
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
        "TestRotary::test_keeps_lengths_and_gradients": [
            ("turned by a matrix that is no rotation", "x * cos - y * sin", "x * cos + y * sin"),
        ],
        "TestRotary::test_equals_complex_multiplication": [
            ("turned the other way", "sin, cos = table", "sin, cos = -table"),
            (
                "pairs half a vector apart",
                "x, y = vectors[..., 0::2], vectors[..., 1::2]",
                "x, y = vectors.chunk(2, dim=-1)",
            ),
            ("offset forgotten", "table[offset:]", "table[: vectors.shape[-2]]"),
        ],
        "TestRotary::test_a_cache_grows_key_by_key": [
            (
                "offset forgotten by the module",
                "_turn(vectors, self.rows(offset,",
                "_turn(vectors, self.rows(0,",
            ),
        ],
        "TestAlibi::test_equals_the_formula": [
            ("ALiBi favours the far", "-slopes[:, None, None]", "slopes[:, None, None]"),
        ],
        "TestAlibi::test_slopes_of_a_power_of_two": [
            ("ALiBi slopes from 1", "for head in range(1, power + 1)", "for head in range(power)"),
        ],
        "TestAlibi::test_slopes_of_other_numbers_of_heads": [
            ("ALiBi slopes twice", "range(1, 2 * power, 2)", "range(2, 2 * power + 1, 2)"),
        ],
        "TestAlibi::test_the_same_in_both_directions": [
            ("ALiBi for the past alone", "device=device)).abs()", "device=device))"),
        ],
        "TestAlibi::test_one_query_at_a_time_with_a_cache": [
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
        "TestRotary::test_a_table_grown_in_inference_mode_can_train": [
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
            ("eps outside the root", "* torch.rsqrt(variance + self.eps)", "/ (variance.sqrt() + self.eps)"),
        ],
        "TestLayerNorm::test_mean_0_and_variance_1_for_each_vector": [
            (
                "unbiased variance",
                "centred.square().mean(dim=-1, keepdim=True)",
                "centred.var(dim=-1, keepdim=True)",
            ),
            (
                "standard deviation for variance",
                "square().mean(dim=-1, keepdim=True)",
                "square().mean(dim=-1, keepdim=True).sqrt()",
            ),
            ("mean left in", "wide - wide.mean(dim=-1, keepdim=True)", "wide"),
            ("mean over the batch", "wide.mean(dim=-1, keepdim=True)", "wide.mean(dim=0, keepdim=True)"),
        ],
        "TestLayerNorm::test_half_precision_is_rounded_once": [
            ("squares in float16", "inputs.to(torch.promote_types(inputs.dtype, torch.float32))", "inputs"),
        ],
        "TestLayerNorm::test_equals_pytorch_in_float32": [
            ("gain left out", "normal * self.weight + self.bias", "normal + self.bias"),
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
    "attnlab/training/batches": {
        "test_iterations_per_epoch_of_the_book": [
            ("floor for ceil", "return math.ceil(share / batch_size)", "return share // batch_size"),
            ("workers ignored", "share = math.ceil(examples / workers)", "share = examples"),
            ("share rounded down", "share = math.ceil(examples / workers)", "share = examples // workers"),
            ("drop_last ignored", "if drop_last:", "if False:"),
        ],
        "test_dropping_the_last_batch_drops_only_that": [
            ("drop_last lost on the way", "batch_size, drop_last)", "batch_size)"),
        ],
        "test_shuffled_batches_hold_every_example_once_and_keep_it_whole": [
            ("never shuffled", "torch.randperm(examples, generator=self.shuffle)", "torch.arange(examples)"),
            ("shuffled by another generator", "examples, generator=self.shuffle", "examples"),
        ],
        "test_a_tuple_of_tensors_is_one_batch_and_the_rest_stays_as_it_is": [
            ("one example to a batch", "batch_size=len(data[0])", "batch_size=1"),
            ("a tuple of batches taken for one", "any(isinstance(part, Tensor) for part in data)", "True"),
            ("an iterator refused for one epoch", "epochs > 1", "epochs > 0"),
        ],
        "test_batches_move_to_the_device_of_the_model": [
            ("batches never moved", "part.to(device)", "part"),
            ("targets first", "*inputs, targets = (part", "targets, *inputs = (part"),
        ],
        "test_what_cannot_work_is_refused_in_words": [
            ("no batch at all", "if self.iterations == 0:", "if False:"),
            ("batches unchecked", "require.batch(batch)", "pass"),
        ],
    },
    "attnlab/training/history": {
        "test_counts_what_it_holds": [
            ("iterations counted by epochs", "len(self.iteration_losses)", "len(self.training_losses)"),
            ("epochs counted by iterations", "len(self.training_losses)", "len(self.iteration_losses)"),
        ],
        "test_metrics_stand_beside_their_losses": [
            (
                "last metric alone",
                "self.validation_metrics += metrics",
                "self.validation_metrics = [*metrics]",
            ),
        ],
        "test_the_best_epoch_is_the_first_with_the_smallest_loss": [
            ("best epoch counted from 0", "(self.validation_losses)) + 1", "(self.validation_losses))"),
            ("largest loss taken for the best", "min(self.validation_losses)", "max(self.validation_losses)"),
        ],
        "test_a_loss_that_is_no_finite_number_raises_and_says_where": [
            ("epoch of the loss counted from 0", "{self.epochs + 1}", "{self.epochs}"),
            (
                "iteration of the loss counted from 0",
                "at iteration {self.iterations}",
                "at iteration {self.iterations - 1}",
            ),
        ],
    },
    "attnlab/training/progress": {
        "test_a_terminal_shows_a_bar_and_wipes_it": [
            ("bar left on the screen", "leave=False,", "leave=True,"),
            ("nothing counted", "total=total", "total=None"),
            ("bar among the warnings", "file=sys.stdout", "file=sys.stderr"),
        ],
        "test_a_short_wait_shows_nothing": [
            ("a bar at once", "delay=PATIENCE", "delay=0"),
        ],
        "test_no_bar_when_asked_for_quiet": [
            ("quiet not asked for", "if os.environ.get(QUIET_VARIABLE):", "if False:"),
        ],
        "test_no_bar_in_a_file_or_pipe": [
            ("every file a terminal", "return sys.stdout.isatty()", "return True"),
        ],
        "test_a_notebook_shows_a_bar_to_a_person_and_none_to_a_program": [
            ("no bar in a notebook", 'kernel.get_parent("shell")["content"].get("allow_stdin")', "False"),
            ("a bar for every notebook", '"allow_stdin")', '"silent") is False'),
        ],
    },
    "attnlab/training/loop": {
        "test_the_loop_is_the_one_written_by_hand": [
            ("gradients never zeroed", "optimizer.zero_grad()", "pass"),
            ("weights never updated", "optimizer.step()", "pass"),
            ("losses of all epochs in each mean", "iteration_losses[-len(examples) :]", "iteration_losses"),
        ],
        "test_learning_with_dropout_measuring_without": [
            ("trained in eval mode", "model.train()", "model.eval()"),
            ("measured in training mode", "model.eval()\n    numbers", "numbers"),
            ("left in training mode", "model.eval()\n    return history", "return history"),
        ],
        "test_evaluate_keeps_nothing_for_a_backward_pass": [
            ("measured with gradients", "with torch.no_grad():", "with torch.enable_grad():"),
        ],
        "test_evaluate_counts_each_batch_by_its_examples": [
            ("a small batch counts as a full one", "total / sum(examples)", "sum(numbers) / len(numbers)"),
        ],
        "test_early_stopping_waits_and_puts_the_best_weights_back": [
            ("best weights not restored", "model.load_state_dict(best_weights)", "pass"),
            ("best weights not copied", "copy.deepcopy(model.state_dict())", "model.state_dict()"),
            ("one epoch too patient", "best_epoch == patience", "best_epoch > patience"),
        ],
        "test_a_loss_that_is_no_number_stops_training_before_it_spoils_the_weights": [
            (
                "NaN trained on",
                'history.add_iteration(_as_number("loss", batch_loss))',
                'history.iteration_losses.append(_as_number("loss", batch_loss))',
            ),
        ],
        "test_what_cannot_work_is_refused_in_words": [
            ("optimizer of another model", "require.optimizer_of(model, optimizer)", "pass"),
            (
                "patience without validation",
                "validation, metric=metric, patience=patience",
                "validation, metric=metric",
            ),
        ],
        "test_a_terminal_shows_epoch_iterations_and_loss": [
            ("bar of one epoch", "epochs * operator", "1 * operator"),
            ("bar never moved", "bar.update()", "pass"),
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
    },
    "attnlab/training/many_seeds": {
        "test_many_seeds_leave_the_models_alone_and_do_what_they_do": [
            ("one seed's weights for all", "tensor.detach() for tensor", "tensors[0].detach() for _"),
            ("weights of the first model used up", "copy.deepcopy(models[0])", "models[0]"),
        ],
        "test_tied_parameters_stay_tied_and_buffers_are_stacked": [
            (
                "buffers of the first seed for all",
                "chain(model.parameters(), model.buffers())",
                "chain(model.parameters())",
            ),
        ],
        "test_each_seed_draws_its_own_dropout_while_it_trains": [
            ("one dropout for all seeds", 'randomness="different"', 'randomness="same"'),
        ],
        "test_seeds_trained_together_equal_the_seeds_trained_alone": [
            ("losses of seeds averaged", "losses(outputs, targets).sum()", "losses(outputs, targets).mean()"),
        ],
        "test_what_cannot_be_stacked_is_refused_in_words": [
            ("models unchecked", "require.same_weights(models)", "pass"),
        ],
    },
    "attnlab/require": {
        "test_what_is_well_passes": [
            ("least refused", "if number < least:", "if number <= least:"),
            (
                "NumPy's whole numbers refused",
                'not hasattr(number, "__index__")',
                "not isinstance(number, int)",
            ),
            ("no dropout refused", "if not 0 <= share < 1:", "if not 0 < share < 1:"),
            ("as many queries as positions refused", "if not 0 <= n <= m:", "if not 0 <= n < m:"),
            ("other axes always refused", "others >= 0 if leading else others == 0", "others == 0"),
            ("masks of one row refused", "length not in (1, wanted)", "length != wanted"),
            (
                "optimizer of a part refused",
                "if not any(id(parameter) in updated",
                "if not all(id(parameter) in updated",
            ),
        ],
        "test_a_value_that_cannot_work_raises_and_says_why": [
            ("base 0", "if number <= 0:", "if number < 0:"),
            ("width 0", "if width < 2 or width % 2:", "if width % 2:"),
            ("dropout of all", "if not 0 <= share < 1:", "if not 0 <= share <= 1:"),
            ("dropout that is no number", "if not 0 <= share < 1:", "if share < 0 or share >= 1:"),
            ("heads that do not divide", "if heads < 1 or d_model % heads != 0:", "if heads < 1:"),
            ("more queries than positions", "if not 0 <= n <= m:", "if not 0 <= n:"),
            ("chunk 0", "queries >= 1", "queries >= 0"),
            ("other axes always allowed", "others >= 0 if leading else others == 0", "others >= 0"),
            ("axes of any length", "length not in (None, came)", "False"),
            ("axes of any device", "if tensor.device != first.device:", "if False:"),
            ("mask (batch, time) refused without advice", "if given.dim() == 2:", "if False:"),
            ("a mask of one key spread over all", "or given.shape[-1] != scores[-1]\n", "\n"),
            ("a mask of fewer axes", "given.dim() != len(scores)\n", "False\n"),
            ("data of two lengths", "if len(set(lengths)) != 1 or", "if"),
            ("buffers of any shape", "(*model.parameters(), *model.buffers())", "model.parameters()"),
            (
                "optimizer of another model",
                "any(id(parameter) in updated for parameter in model.parameters())",
                "updated",
            ),
        ],
        "test_the_wrong_kind_of_thing_raises_and_says_why": [
            ("a mask of numbers", "if given.dtype != torch.bool:", "if False:"),
            (
                "a hint for the other convention",
                'boolean("attn_mask", attn_mask, "!= 0")',
                'boolean("attn_mask", attn_mask)',
            ),
            ("a batch without targets", "if len(given) < 2 or", "if"),
            ("the shape of what has none", "if not isinstance(tensor, Tensor):", "if False:"),
        ],
        "test_leading_axes_are_those_that_all_have_in_common": [
            ("axes of the first alone", "if shapes[1:] == shapes[:-1]:", "if True:"),
        ],
    },
    "attnlab/corpora/text": {
        "TestFolder::test_the_sample_is_never_taken_unasked": [
            ("sample taken for the data", "if sample:", "if True:"),
            ("sample not offered", 'ask = "" if sample else', 'ask = "" if True else'),
        ],
        "TestFolder::test_the_readers_own_data_come_before_the_sample": [
            ("own data never hidden", "sample and os.environ.get(ONLY_SAMPLE_VARIABLE)", "False"),
            ("own data taken for the sample", 'is_relative_to(root / "sample")', "is_relative_to(root)"),
        ],
        "TestFolder::test_half_a_data_set_is_none": [
            ("half a data set read", "if not missing:", "if len(missing) < len(NEEDED[name]):"),
        ],
        "TestWikiText2::test_is_what_torchtext_reads": [
            ("downloaded", "path=str(folder(WIKITEXT2, sample, root))", "root=str(root / 'nowhere')"),
        ],
        "TestImdb::test_reviews_come_in_the_order_of_their_numbers": [
            ("12 before 2", 'return int(file.stem.partition("_")[0]), file.stem', "return file.stem"),
        ],
        "TestImdb::test_a_review_is_read_to_its_end": [
            (
                "first line alone",
                '" ".join(file.read_text(encoding="utf-8").splitlines())',
                "file.open().readline()",
            ),
        ],
        "TestByLength::test_neighbours_in_length_share_a_batch": [
            ("nothing sorted by length", "sort_within_batch=True", "sort_within_batch=False"),
        ],
        "TestByLength::test_the_seed_alone_decides_the_order": [
            ("seed ignored", "random.seed(seed)", "pass"),
        ],
        "TestByLength::test_leaves_pythons_random_numbers_alone": [
            ("generator left seeded", "random.setstate(before)", "pass"),
        ],
        "TestNextTokenBatches::test_the_field_keeps_its_eos_token": [
            ("end of sentence cleared", "field.eos_token = eos_token", "pass"),
        ],
    },
    "attnlab/training/distributed_worker": {
        "test_another_order_in_each_epoch": [
            ("one order for all epochs", "sampler.set_epoch(epoch)", "pass"),
        ],
        "test_two_processes_do_what_one_does_with_batches_twice_as_large": [
            ("gradients not averaged", "model = DistributedDataParallel(network)", "model = network"),
            ("losses summed over the processes", " / distributed.get_world_size()", ""),
        ],
        "test_with_a_gpu_for_each_every_process_takes_its_own": [
            ("the first GPU for all", "torch.cuda.set_device(device)", "pass"),
            ("a group that guesses the GPU", ", device_id=device", ""),
        ],
    },
    "attnlab/corpora/agreement": {
        "test_chances_sum_to_1_in_every_state": [
            ("nouns in both numbers too likely", "chance * (1 - PLURAL), singular", "chance, singular"),
        ],
        "test_every_drawn_sentence_is_read": [
            (
                "nothing drawn behind the last word but one",
                "state = options[words[-1]][1]",
                "state = FIRST if words[-1] == 'that' else options[words[-1]][1]",
            ),
        ],
        "test_there_are_at_most_four_additions_and_sometimes_four": [
            ("additions not counted", "additions=state.additions + 1", "additions=state.additions"),
        ],
        "test_a_verb_put_into_the_other_number_is_a_fault": [
            (
                "plural verbs with an s",
                'ending = "s" if number == "singular"',
                'ending = "s" if number == "plural"',
            ),
        ],
        "test_surprises_sum_to_the_logarithm_of_a_sentences_chance": [
            (
                "in bits",
                "math.log(1 / following(state)[word][0])",
                "math.log2(1 / following(state)[word][0])",
            ),
            ("all words of a kind alike", "{word: 1 / rank / total for", "{word: 1 / len(words) for"),
        ],
        "test_expected_is_the_mean_over_all_sentences": [
            (
                "states not weighed",
                "nats += chance * (more_nats - math.log(chance))",
                "nats += more_nats - math.log(chance)",
            ),
            (
                "words not weighed",
                "words += chance * more_words",
                "words += more_words / len(following(state))",
            ),
        ],
        "test_a_fault_is_named_at_its_word": [
            (
                "words counted from 0",
                "place, word in enumerate(words, start=1)",
                "place, word in enumerate(words)",
            ),
            (
                "a sentence without its end",
                '    if state is not None:\n        raise ValueError(f"words must',
                '    if False:\n        raise ValueError(f"words must',
            ),
        ],
        "test_verb_and_subject_are_the_outer_ones": [
            (
                "the subject of a clause",
                'places.index("subject")',
                'len(places) - 1 - places[::-1].index("subject of clause")',
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
    "attnlab/runtime": {
        "test_a_gpu_that_is_not_there_is_an_error_and_never_the_cpu": [
            ("one GPU too many", "(device.index or 0) >= torch", "(device.index or 0) > torch"),
        ],
        "test_of_one_gpu_the_first_is_there_and_the_second_is_not": [
            ("first GPU taken for the second", "device.index or 0", "device.index or 1"),
        ],
        "test_the_variable_overrides_the_choice": [
            ("wish for a device ignored", "if not wanted:", "if True:"),
        ],
        "test_preparing_twice_repeats_every_number": [
            ("one seed for all of PyTorch", "torch.manual_seed(seed)", "torch.manual_seed(0)"),
            ("one seed for all of Python", "random.seed(seed)", "random.seed(0)"),
        ],
        "test_preparing_makes_pytorch_deterministic_and_sets_the_threads": [
            ("threads ignored", "torch.set_num_threads(threads)", "pass"),
            ("determinism not asked for", 'torch.set_deterministic_debug_mode("error")', "pass"),
            ("cuBLAS free to vary", 'os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")', "pass"),
            ("10 bits in products", "torch.backends.cuda.matmul.allow_tf32 = False", "pass"),
            ("10 bits in convolutions", "torch.backends.cudnn.allow_tf32 = False", "pass"),
        ],
        "test_a_generator_is_on_the_cpu_and_depends_on_its_seed_alone": [
            ("one seed for all generators", '"cpu").manual_seed(seed)', '"cpu").manual_seed(0)'),
        ],
    },
}
