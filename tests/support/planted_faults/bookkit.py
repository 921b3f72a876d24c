"""Faults planted in the machinery."""

from planted_faults.kinds import Faults

FAULTS: Faults = {
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
        ],
        "test_a_claim_that_holds_prints_its_sentence_and_bound": [
            ("bound left out of itself", "bound.low <= value <=", "bound.low < value <="),
            ("equal bounds refused", "at_least > at_most", "at_least >= at_most"),
            ("rel taken as abs", "margin = rel * math.fabs(expected)", "margin = rel"),
            ("rel of a negative number", "margin = rel * math.fabs(expected)", "margin = rel * expected"),
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
        ],
        "test_in_a_notebook_the_plain_text_never_depends_on_the_measured_value": [
            ("measured value in the plain text", "{sentence} [", "{sentence} {value} ["),
        ],
    },
}
