"""Faults planted in the model of today, and in where others keep its weights."""

from planted_faults.kinds import Faults

FAULTS: Faults = {
    "attnlab/today/model": {
        "test_equals_pytorch": [
            (
                "turned the other way",
                "x * cos - y * sin, y * cos + x * sin",
                "x * cos + y * sin, y * cos - x * sin",
            ),
            (
                "keys not turned",
                "key = turned(self.split(self.key(inputs), self.groups), angles)",
                "key = self.split(self.key(inputs), self.groups)",
            ),
            (
                "values turned",
                "value = self.split(self.value(inputs), self.groups)",
                "value = turned(self.split(self.value(inputs), self.groups), angles)",
            ),
            (
                "heads and columns mixed up",
                "vectors.view(*vectors.shape[:2], heads, -1).transpose(1, 2)",
                "vectors.view(*vectors.shape[:2], -1, heads).permute(0, 3, 1, 2)",
            ),
            (
                "the content through silu",
                "F.silu(self.gate(inputs)) * self.widen(inputs)",
                "self.gate(inputs) * F.silu(self.widen(inputs))",
            ),
            ("another curve", "F.silu(self.gate(inputs))", "F.gelu(self.gate(inputs))"),
            ("the stream lost in attention", "stream = stream + self.attention", "stream = self.attention"),
            (
                "attention reads before its norm",
                "self.attention(self.before_attention(stream), angles",
                "self.attention(stream, angles",
            ),
            (
                "the network reads before its norm",
                "self.network(self.before_network(stream))",
                "self.network(stream)",
            ),
            ("no last norm", "F.linear(self.norm(stream), (self.next", "F.linear(stream, (self.next"),
            (
                "one base for all",
                "base ** (-torch.arange(0, d_k, 2) / d_k)",
                "10000.0 ** (-torch.arange(0, d_k, 2) / d_k)",
            ),
            ("half the exponent", "(-torch.arange(0, d_k, 2) / d_k)", "(-torch.arange(d_k // 2) / d_k)"),
            ("always tied", "(self.next or self.pieces).weight", "self.pieces.weight"),
        ],
        "test_it_has_as_many_weights_as_llama_2_7b": [
            (
                "a bias that writes",
                "(nn.Linear(d_model, d_model, bias=False) for",
                "(nn.Linear(d_model, d_model) for",
            ),
            (
                "a bias that narrows",
                "self.narrow = nn.Linear(hidden, d_model, bias=False)",
                "self.narrow = nn.Linear(hidden, d_model)",
            ),
        ],
        "test_it_starts_with_the_spread_that_is_asked_for": [
            ("always one spread", "start(self, spread, layers)", "start(self, 0.02, layers)"),
            ("always one layer", "start(self, spread, layers)", "start(self, spread, 1)"),
        ],
        "test_no_piece_sees_those_after_it": [
            ("it sees ahead", "is_causal=mask is None,", "is_causal=False,"),
        ],
        "test_with_a_cache_it_says_the_same": [
            ("nothing kept", "key, value = cache.extended(key, value)", "cache.extended(key, value)"),
            (
                "places from 0 again",
                "torch.arange(before, before + ids.shape[-1]",
                "torch.arange(0, ids.shape[-1]",
            ),
            ("the first query beside the first key", "if visible is None and before:", "if False:"),
        ],
        "test_what_is_not_visible_changes_nothing": [
            ("all is visible", "mask = None if visible is None else for_heads(visible)", "mask = None"),
        ],
        "test_each_row_may_stand_elsewhere": [
            ("all stand where the first does", "(places[..., None] * self", "(places[:1, :, None] * self"),
        ],
        "test_frequencies_are_no_weights_and_move_with_the_ids": [
            (
                "frequencies in a buffer",
                "self.frequencies = base ** (-torch.arange(0, d_k, 2) / d_k)",
                'self.register_buffer("frequencies", base ** (-torch.arange(0, d_k, 2) / d_k))',
            ),
        ],
        "test_turning_keeps_the_dtype_and_the_length": [
            (
                "float32 from here",
                "angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)",
                "angles.cos(), angles.sin()",
            ),
        ],
        "test_sizes_that_cannot_be_are_refused": [
            (
                "sizes unchecked",
                "require.at_least(1, vocabulary=vocabulary, hidden=hidden, layers=layers, longest=longest)",
                "pass",
            ),
            ("groups unchecked", "        require.groups(groups, heads, d_model)\n", ""),
        ],
        "test_ids_that_it_has_no_pieces_for_are_refused": [
            ("ids unchecked", "        require.ids(ids, len(self.pieces.weight), self.longest)\n", ""),
        ],
        "test_places_that_cannot_be_are_refused": [
            ("places unchecked", "        require.places(places, ids, self.longest)\n", ""),
        ],
        "test_a_cache_of_another_batch_or_model_is_refused": [
            (
                "caches of fewer layers",
                "zip(self.blocks, of_blocks, strict=True)",
                "zip(self.blocks, of_blocks, strict=False)",
            ),
        ],
    },
    "attnlab/layers": {
        "attnlab/today/test_model.py::test_rms_norm_equals_pytorch": [
            (
                "the sum of squares",
                "wide.square().mean(-1, keepdim=True)",
                "wide.square().sum(-1, keepdim=True)",
            ),
            (
                "its weight left out",
                "return self.weight * normal.to(inputs.dtype)",
                "return normal.to(inputs.dtype)",
            ),
        ],
        "attnlab/today/test_model.py::test_rms_norm_of_zeros_is_zero_and_takes_no_mean_off": [
            (
                "a mean taken off",
                "wide = inputs.float()  #",
                "wide = inputs.float() - inputs.float().mean(-1, keepdim=True)  #",
            ),
            (
                "nothing added under the root",
                "keepdim=True) + self.eps)\n        return self.weight",
                "keepdim=True))\n        return self.weight",
            ),
        ],
        "attnlab/today/test_model.py::test_rms_norm_squares_in_float32": [
            ("squares in half precision", "wide = inputs.float()  #", "wide = inputs  #"),
            ("float32 for ever", "self.weight * normal.to(inputs.dtype)", "self.weight * normal"),
        ],
    },
    "attnlab/attention": {
        "attnlab/today/test_model.py::test_a_cache_of_another_batch_or_model_is_refused": [
            ("any cache", "            require.same_rows(keys, self.keys)\n", ""),
        ],
    },
    "attnlab/require": {
        "attnlab/today/test_model.py::test_sizes_that_cannot_be_are_refused": [
            ("columns without a pair", "    even(d_k=d_model // heads)\n", ""),
            ("groups that don't divide", "if groups < 1 or heads % groups:", "if groups < 1:"),
            ("no groups", "if groups < 1 or heads % groups:", "if groups and heads % groups:"),
        ],
        "attnlab/today/test_model.py::test_a_cache_of_another_batch_or_model_is_refused": [
            ("keys of another batch", "if keys.shape[:-2] != before.shape[:-2] or", "if"),
        ],
        "attnlab/today/test_model.py::test_places_that_cannot_be_are_refused": [
            ("places beyond the longest", "if not 0 <= first <= last < longest:", "if not 0 <= first:"),
            ("places before the first", "if not 0 <= first <= last < longest:", "if not last < longest:"),
            ("one axis of places", "given.dim() != 2 or given.shape[0] not in", "given.shape[0] not in"),
            ("places of other rows", "given.shape[0] not in (1, len(ids)) or", "False or"),
        ],
        "attnlab/today/test_model.py::test_each_row_may_stand_elsewhere": [
            (
                "one row of places only",
                "not in (1, len(ids)) or given.shape[1]",
                "not in (1,) or given.shape[1]",
            ),
        ],
    },
    "chapters/the_block_of_today/their_names": {
        "test_theirs_with_our_weights_says_the_same": [
            (
                "gate and content changed over",
                '"blocks.*.network.gate": "model.layers.*.mlp.gate_proj"',
                '"blocks.*.network.gate": "model.layers.*.mlp.up_proj"',
            ),
            (
                "always tied",
                '{NEXT: ours["pieces.weight"]} | theirs',
                'theirs | {NEXT: ours["pieces.weight"]}',
            ),
        ],
        "test_ours_with_their_weights_says_the_same": [
            ("one block for all", '.replace("*", block)', '.replace("*", "0")'),
            ("never tied", "if not (tied and name == NEXT)}", "}"),
        ],
        "test_one_table_at_both_ends_must_be_one": [
            ("a table of its own lost", "if tied and not torch.equal(", "if False and not torch.equal("),
        ],
    },
    "chapters/the_block_of_today/mixed": {
        "test_all_changes_together_are_the_block_of_today": [
            ("not all changes", "TODAY = Kind(norm_first=True, rms=True,", "TODAY = Kind(norm_first=True,"),
        ],
        "test_none_of_them_is_the_block_of_2017": [
            (
                "the norm first",
                "self.before_attention(stream + self.attention(stream, angles))",
                "stream + self.attention(self.before_attention(stream), angles)",
            ),
            (
                "no table of places",
                "* math.sqrt(stream.shape[-1]) + self.table[:length].to(ids.device)",
                "* math.sqrt(stream.shape[-1])",
            ),
        ],
        "test_each_has_as_many_weights_as_that_of_2017": [
            ("one width for all", "1 + round((wanted - narrow) / (wider - narrow))", "4 * d_model"),
        ],
    },
}
