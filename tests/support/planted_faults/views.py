"""Faults planted in what the benches show, most of which only a browser shows."""

from planted_faults.kinds import Faults

WORKBENCH, REACH, SCRIPT = (
    "site/test_workbench.py::",
    "site/test_reach_view.py::",
    "site/test_reach_script.py::",
)
DRAWN = "site/test_step_drawings.py::test_each_drawing_has_the_numbers_of_its_step"

FAULTS: Faults = {
    "_static/workbench.js": {
        f"{WORKBENCH}test_all_is_as_it_was_after_one_press": [
            (
                "the first undone for any",
                "this.deeds.splice(place, 1);\n    return",
                "this.deeds.shift();\n    return",
            ),
            ("all but one undone", "this.deeds = [];\n    return", "this.deeds.length = 1;\n    return"),
            ("the focus is lost", "        this.focusNear(place);", ""),
        ],
        f"{WORKBENCH}test_a_change_that_takes_an_earlier_one_back_leaves_neither": [
            ("both are left", "if (before >= 0) this.deeds.splice(before, 1);", "if (false) ;"),
            ("what is so already, once more", "=== inText(changesBy(this.deeds))", "=== null"),
        ],
    },
    "_static/bench/reach.js": {
        f"{SCRIPT}test_what_begins_or_ends_alike_goes_together_and_the_last_with_the_last": [
            ("only what begins alike", "first.at(-1 - behind) === second.at(-1 - behind)", "false"),
            ("only what ends alike", "first[same] === second[same]", "false"),
            ("a place counted twice", "behind < shorter - same", "behind < shorter"),
            ("the last alone", "Math.max(1, behind)", "behind"),
        ],
        f"{SCRIPT}test_queries_keys_and_values_are_a_third_of_a_projections_rows_each": [
            ("queries for keys", "start: third * count", "start: 0"),
            ("all rows for a third", ".rows].length / 3", ".rows].length"),
            ("values before keys", '"queries", "keys", "values"', '"queries", "values", "keys"'),
        ],
    },
    "_static/bench/reach_carry.js": {
        f"{REACH}test_a_cell_of_the_sentence_before_is_not_carried_into_one_that_is_being_read": [
            ("into another sentence", "if (bench.given !== firstKey) return;", ""),
        ],
        f"{REACH}test_a_press_on_a_cell_can_be_taken_back_by_a_second_one_and_by_the_list": [
            ("carried twice", "if (put) changes", "changes"),
        ],
        f"{REACH}test_where_the_difference_stands_is_said_and_which_head_moves_it": [
            (
                "the head of another kind",
                "this.kinds.indexOf(this.kind) + 1",
                "this.kinds.indexOf(this.kind)",
            ),
        ],
    },
    "_static/bench/step_drawings.js": {
        DRAWN: [
            (
                "what fires for what it weighs",
                "score: (neuron) => wide[neuron]",
                "score: (neuron) => active[neuron]",
            ),
            (
                "what it weighs for what fires",
                "told: (neuron) => written(active[neuron])",
                "told: (neuron) => written(wide[neuron])",
            ),
            (
                "what fires for a length",
                "length ${written(strengths[neuron])}",
                "length ${written(active[neuron])}",
            ),
            ("a neuron without its firing", "row[neuron] * active[neuron]", "row[neuron]"),
            ("the loudest for the most silent", "wide[neuron] < wide[least]", "wide[neuron] > wide[least]"),
            ("the rest with the few", "added.reduce(minus, all)", "all"),
        ],
    },
}
