"""Faults planted in attention itself: scores, masks, weights, and what keeps numbers in order."""

from planted_faults.checkup import WHOLE
from planted_faults.kinds import Faults

MANY_HEADS = "attnlab/test_multi_head_attention.py::"

ERRORS = "attnlab/test_attention_errors.py::"

FAULTS: Faults = {
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
        "TestWindow::test_shows_the_last_few_and_the_first_few": [
            ("window one wider", "- n - width + 1)", "- n - width)"),
            ("window lined up with the first key", "before.shape[-1] - n - width + 1", "1 - width"),
            ("sinks shown to those before them", "= before[..., :sinks]", "= True"),
            ("the last keys for sinks", "seen[..., :sinks] =", "seen[..., -sinks - 1 :] ="),
        ],
        "TestWindow::test_errors": [
            ("width unchecked", "require.at_least(1, width=width)", "pass"),
            ("sinks unchecked", "require.at_least(0, sinks=sinks)", "pass"),
        ],
        "TestCombine::test_takes_any_number_of_masks": [
            ("shown by any mask instead of all", "combined & mask", "combined | mask"),
            ("last mask alone", "combined & mask", "mask"),
        ],
        "TestConversions::test_round_trips": [
            ("heads of the first example for all", "attn_mask[::heads]", "attn_mask[:heads]"),
            ("True = keep given as key_padding_mask", '_mask": ~mask[:, 0]', '_mask": mask[:, 0]'),
            ("True = keep given as attn_mask", '_mask": ~mask[0]', '_mask": mask[0]'),
        ],
        "TestConversions::test_both_of_pytorchs_attentions_see_just_what_the_mask_shows": [
            ("heads before examples", "mask.unsqueeze(1)", "mask.unsqueeze(0)"),
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
        "attnlab/test_decoding_faster.py::test_a_cache_that_was_cut_goes_on_as_if_the_rest_had_never_come": [
            ("the last words kept", "self.keys[..., :length, :]", "self.keys[..., -length:, :]"),
            ("values not cut", "self.values[..., :length, :]", "self.values"),
        ],
        "attnlab/test_decoding_faster.py::test_a_length_that_no_cache_has_is_refused": [
            ("a cut of any length", "        require.kept(length, self.length)\n", ""),
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
        f"{MANY_HEADS}TestMultiHeadAttention::test_each_head_scores_with_the_score_it_is_given": [
            ("score lost on the way to the heads", "score=self.score,", "score=scaled_dot,"),
        ],
        f"{MANY_HEADS}TestMultiHeadAttention::test_a_score_that_learns_is_part_of_the_module": [
            ("score hidden from the module", "self.score = score", "self.score = lambda *x: score(*x)"),
        ],
        f"{MANY_HEADS}TestMultiHeadAttention::test_dropout_while_training_only": [
            ("dropout in eval mode", "self.dropout if self.training else 0.0", "self.dropout"),
            ("dropout never", "self.dropout if self.training else 0.0", "0.0"),
        ],
        f"{MANY_HEADS}TestMultiHeadAttention::test_equals_pytorchs_own": [
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
        f"{ERRORS}TestErrors::test_heads_divide_d_model": [
            ("heads unchecked", "require.divisor(heads, d_model)", "pass"),
        ],
        f"{MANY_HEADS}TestMultiHeadAttention::test_padding_acts_on_examples_and_not_on_heads": [
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
        f"{MANY_HEADS}TestMultiHeadAttention::test_key_defaults_to_query_and_value_to_key": [
            ("values from the queries", "value = key if", "value = query if"),
        ],
        f"{ERRORS}TestErrors::test_mask_shape": [
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
    "attnlab/runtime": {
        "test_what_never_ends_is_stopped": [
            ("raised once and swallowed", "frame.f_trace = at_each_line", "pass"),
            ("a late answer taken", "raise time_up  # it", "pass  # it"),
            ("retried for ever", "class TimeUpError(BaseException)", "class TimeUpError(Exception)"),
        ],
        f"{WHOLE}::test_when_time_is_up_the_model_is_as_it_was_and_what_is_left_is_told": [
            ("our own clearing up cut short", "in TRUSTED", "in set()"),
        ],
        "test_a_real_alarm_interrupts[sleep]": [
            ("never an alarm", "signal.setitimer(signal.ITIMER_REAL, until.left, RING_AGAIN)", "(0, 0)"),
        ],
        "test_what_is_stopped_clears_up_behind_itself_though_the_alarm_rings_again": [
            ("no time to clear up", "monotonic() < raised_at + TIDYING or", "False or"),
        ],
        "test_what_python_deletes_just_then_is_deleted_whole": [
            ("lost with an alarm", "TIDYING or _is_deleting(frame, until.passed_at)", "TIDYING"),
            ("lost without", "until.passed() and not _is_deleting(frame, until.passed_at)", "until.passed()"),
        ],
        "test_several_actions_share_one_deadline": [
            ("no alarm where no time is left", "seconds - monotonic(), 1e-3)", "seconds - monotonic(), 0)"),
        ],
        "test_the_alarm_is_set_to_what_is_left": [
            ("the whole time again", "(signal.ITIMER_REAL, until.left", "(signal.ITIMER_REAL, until.seconds"),
        ],
        "test_who_has_hardly_had_the_processor_may_go_on": [
            ("the clock alone", "if not WAITING < share < SERVED or", "if True or"),
            ("for ever", " or now - self.started > LONGEST * self.seconds", ""),
            ("a sleep is taken for work", "not WAITING < share", "not -1 < share"),
        ],
        "test_a_loop_is_stopped_where_there_are_no_alarms": [
            ("no clock without alarms", '"line" and until.passed()', '"line" and False'),
            (
                "the trace left behind",
                "            sys.settrace(trace_before)\n    handler_before",
                "            pass\n    handler_before",
            ),
        ],
        "test_an_alarm_of_someone_else_still_rings": [
            ("another's alarm lost", "signal.setitimer(signal.ITIMER_REAL, *timer_before)", "pass"),
            ("another's handler lost", "signal.signal(signal.SIGALRM, handler_before)", "pass"),
        ],
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
