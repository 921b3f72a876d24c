"""Faults planted in attention by tiles."""

from planted_faults.kinds import Faults

FAULTS: Faults = {
    "attnlab/today/tiles": {
        "test_equals_the_whole": [
            (
                "scores not scaled",
                "queries = query[:, rows] / math.sqrt(d_k)  #",
                "queries = query[:, rows]  #",
            ),
            ("a sum not rescaled", "total.mul_(kept).add_(", "total.add_("),
            ("an output not rescaled", "mixed.mul_(kept).baddbmm_(", "mixed.baddbmm_("),
            (
                "the highest of this tile alone",
                "torch.maximum(highest, scores.amax(-1, keepdim=True))",
                "scores.amax(-1, keepdim=True)",
            ),
            (
                "rescaled the wrong way",
                "kept = before.sub_(highest).exp_()",
                "kept = before.sub_(highest).neg_().exp_()",
            ),
            ("never divided", "mixed.div_(total.clamp_(min=1))", "mixed"),
            ("the highest left out of what is kept", "total.log_().add_(highest)", "total.log_()"),
            ("the first queries seen for the last", "end = stop + m - n if causal", "end = stop if causal"),
            (
                "one key too many is seen",
                "hidden.triu_(rows.start + ahead + 1",
                "hidden.triu_(rows.start + ahead + 2",
            ),
            (
                "the diagonal not masked",
                "if ahead is not None and columns.stop >",
                "if False and columns.stop >",
            ),
            ("a query not scaled on the way back", "of_query.div_(math.sqrt(d_k))", "of_query"),
            (
                "a key not scaled on the way back",
                "queries, pulled = query[:, rows] / math.sqrt(d_k),",
                "queries, pulled = query[:, rows],",
            ),
            ("what all were pulled forgotten", ".sub_(together[:, rows]).mul_(weights)", ".mul_(weights)"),
            (
                "weights forgotten on the way back",
                ".sub_(together[:, rows]).mul_(weights)",
                ".sub_(together[:, rows])",
            ),
            ("no mask on the way back", "m - n if ctx.causal else None", "None"),
            (
                "only the last tile's values",
                "of_value[:, columns].baddbmm_(",
                "of_value[:, columns].zero_().baddbmm_(",
            ),
        ],
        "test_scores_too_large_for_an_exponential_are_no_trouble": [
            ("nothing subtracted", "scores.sub_(highest).exp_()", "scores.exp_()"),
        ],
        "test_no_keys_give_nothing": [
            ("0 / 0", "total.clamp_(min=1)", "total"),
        ],
        "test_tiles_in_which_all_is_hidden_are_never_looked_at": [
            ("hidden tiles are looked at", "stop + m - n if causal else m", "m"),
        ],
        "test_leading_axes_fit_as_everywhere": [
            ("leading axes not spread", "each.expand(*leading, *each.shape[-2:])", "each"),
        ],
        "test_without_gradients_nothing_is_kept_and_no_input_is_changed": [
            (
                "queries scaled in place",
                "queries = query[:, rows] / math.sqrt(d_k)  #",
                "queries = query[:, rows].div_(math.sqrt(d_k))  #",
            ),
        ],
        "test_a_second_derivative_is_refused_and_not_zero": [
            ("a second derivative of something", '        require.create_graph_off("tiled")\n', ""),
        ],
        "test_memory_grows_with_n_and_not_with_its_square": [
            ("one large tile", "in range(0, n, tile):", "in [0] if (tile := n) else []:"),
        ],
        "test_a_smaller_tile_takes_less": [
            (
                "all keys at once",
                "[slice(left, min(left + tile, end)) for left in range(0, end, tile)]",
                "[slice(0, end)]",
            ),
        ],
        "test_what_cannot_work_is_refused": [
            ("no tile", "    require.at_least(1, tile=tile)\n", ""),
            ("keys of any width", '    require.axes("key", key, "…", m=None, d_k=query.shape[-1])\n', ""),
            (
                "any number of values",
                '    require.axes("value", value, "…", m=key.shape[-2], d_v=None)\n',
                "",
            ),
            ("half precision", "    require.full_precision(query=query, key=key, value=value)\n", ""),
            (
                "queries before the first key",
                "        require.last_positions(query.shape[-2], key.shape[-2])\n",
                "        pass\n",
            ),
        ],
    },
    "attnlab/require": {
        "test_what_is_well_passes": [
            ("float64 refused", "not in (torch.float32, torch.float64) or", "not in (torch.float32,) or"),
            ("each way back refused", "    if torch.is_grad_enabled():  #", "    if True:  #"),
        ],
        "test_the_wrong_kind_of_thing_raises_and_says_why": [
            ("mixed precision", "or len({*dtypes}) > 1:", ":"),
            ("half precision in all", "if dtypes[0] not in (torch.float32, torch.float64) or", "if"),
        ],
    },
}
