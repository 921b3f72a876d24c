"""Faults planted in attention with a state."""

from planted_faults.kinds import Faults

FAULTS: Faults = {
    "attnlab/today/linear": {
        "test_equals_a_loop_over_pairs": [
            ("features below 0", "return F.elu(vectors) + 1", "return F.elu(vectors)"),
            (
                "features of the query alone",
                "positive(query.to(wide)), positive(key.to(wide))",
                "positive(query.to(wide)), key.to(wide)",
            ),
            ("a chunk that forgets nothing", "query @ key.mT * left", "(query @ key.mT).tril()"),
            ("a state that forgets nothing", "state = decay**n * state", "state = state"),
            (
                "a state asked too early",
                "decay ** (place + 1) * (query @ state)",
                "decay**place * (query @ state)",
            ),
            ("a chunk added without its decay", "(decay ** (n - 1 - place) * key).mT", "key.mT"),
            ("a chunk that fades from its other end", "decay ** (n - 1 - place) * key", "decay**place * key"),
            ("a state that is never asked", "decay ** (place + 1) * (query @ state)", "0"),
            (
                "chunks begin anew",
                "linear_step(*of_chunk, state, decay)",
                "linear_step(*of_chunk, None, decay)",
            ),
            ("weights that don't sum to 1", "(mixed[..., :-1] / total)", "mixed[..., :-1]"),
        ],
        "test_by_default_nothing_is_forgotten_and_chunks_are_of_64": [
            ("some of it forgotten", "decay: float = 1.0, chunk", "decay: float = 0.99, chunk"),
        ],
        "test_no_word_sees_those_after_it": [
            (
                "a chunk that sees ahead",
                "(decay ** (place - place.mT)).tril()",
                "(decay ** (place - place.mT).abs())",
            ),
        ],
        "test_gradients_are_those_of_the_loop": [
            ("a state cut off", "state = decay**n * state", "state = decay**n * state.detach()"),
        ],
        "test_a_state_goes_on_from_where_it_is": [
            ("a state that fades by a word for several", "decay**n * state", "decay * state"),
        ],
        "test_the_state_is_what_was_read_and_its_last_column_adds_up_keys": [
            ("a column of 1 in front", "(0, 1), value=1.0", "(1, 0), value=1.0"),
        ],
        "test_half_precision_does_not_stop_counting": [
            ("sums in half precision", "torch.promote_types(value.dtype, torch.float32)", "value.dtype"),
            (
                "an output in single precision",
                "(mixed[..., :-1] / total).to(value.dtype)",
                "(mixed[..., :-1] / total)",
            ),
        ],
        "test_a_query_without_features_gets_0": [
            ("0 / 0", ".clamp(min=torch.finfo(wide).tiny)", ""),
        ],
        "test_what_cannot_be_is_refused": [
            ("no words in a chunk", "    require.at_least(1, chunk=chunk)\n", ""),
            ("other words", "    require.same_words(query, key, value)\n    outputs", "    outputs"),
        ],
        "test_a_step_with_an_impossible_decay_is_refused": [
            ("any decay", "    require.decay(decay)\n", ""),
        ],
        "test_a_state_of_something_else_is_refused": [
            ("a state of any width", '    require.axes("state", state, "…"', '    dict("…"'),
            ("a state of others", "    require.leading_axes(query=query, state=state)\n", ""),
        ],
    },
    "attnlab/require": {
        "attnlab/today/test_linear.py::test_what_cannot_be_is_refused": [
            ("a decay of 0", "if not 0 < share <= 1:", "if not 0 <= share <= 1:"),
            ("a decay above 1", "if not 0 < share <= 1:", "if share <= 0:"),
            (
                "keys of another length",
                'axes("key", key, "…", time=query.shape[-2], d_k=query.shape[-1])',
                'axes("key", key, "…", time=None, d_k=query.shape[-1])',
            ),
            (
                "values of another length",
                'axes("value", value, "…", time=query.shape[-2], d_v=None)',
                'axes("value", value, "…", time=None, d_v=None)',
            ),
        ],
        "attnlab/today/test_linear.py::test_by_default_nothing_is_forgotten_and_chunks_are_of_64": [
            ("no decay of 1", "if not 0 < share <= 1:", "if not 0 < share < 1:"),
        ],
        "attnlab/today/test_linear.py::test_whole_numbers_are_refused": [
            ("whole numbers as values", '{"key": key, "value": value}.items()', '{"key": key}.items()'),
        ],
    },
    "chapters/fewer_keys_or_none/exercises/linear_recurrence_parts": {
        "chapters/fewer_keys_or_none/exercises/test_linear_recurrence.py::"
        "test_a_wrong_table_is_a_table_first_of_all": [
            ("tables unseen", "    if made.found:\n", "    if False:\n"),
        ],
    },
}
