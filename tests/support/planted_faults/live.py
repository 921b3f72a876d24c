"""Faults planted in what makes a page's code run."""

from planted_faults.kinds import Faults

SCRIPTS, EXTENSION = "site/test_live_scripts.py::", "site/test_live_extension.py::"

FAULTS: Faults = {
    "_ext/live": {
        f"{EXTENSION}test_a_page_is_told_all_cells_and_of_what_they_put_out_the_chart_alone": [
            ("no tags", 'kept = {"id", "cell_type", "metadata"}', 'kept = {"id", "cell_type"}'),
            ("lines in a list", '"".join(cell["source"])', 'cell["source"]'),
            ("no chart", '| ({"chart": charts[0]} if charts else {})', ""),
        ],
        f"{EXTENSION}test_what_comes_is_weighed_compressed": [
            ("as it lies on the disk", "len(gzip.compress(content))", "len(content)"),
        ],
        f"{EXTENSION}test_the_script_stays_light": [
            ("all of Vega beside Vega-Lite", ', alias={"vega": "vega-util"}', ""),
        ],
    },
    "_static/live/terminal.mjs": {
        f"{SCRIPTS}test_a_line_that_is_written_anew_is_shown_as_a_terminal_would": [
            ("colours as text", '.replace(COLOURS, "")', ""),
            ("one line after another", "shown = part + shown.slice(part.length)", "shown += part"),
            ("nothing left of a longer line", "part + shown.slice(part.length)", "part"),
        ],
        f"{SCRIPTS}test_what_python_could_not_read_is_told_of_this_cell_and_of_no_other_file": [
            ("the kernel's own file", "(this cell, line $1)", "$&"),
            ("any file", r"\(\d+\.py", r"\(\w+\.py"),
            ("anywhere in the words", r"line (\d+)\)$/", r"line (\d+)\)/"),
            ("errors of all kinds", "(Syntax|Indentation|Tab|Input)Error$", "Error$"),
        ],
    },
    "_static/live/saving.mjs": {
        f"{SCRIPTS}test_a_saved_notebook_has_the_answers_and_no_outputs": [
            ("the book's code", "source: sources.get(cell.id)", "source: cell.source"),
            ("text as code", 'cell.cell_type === "code" ? code : cell', "code"),
        ],
    },
    "_static/live/binder.mjs": {
        f"{SCRIPTS}test_a_phase_is_told_once_and_what_is_unknown_is_not_told": [
            ("each phase as often as it comes", " || told.phase === phase", ""),
        ],
        f"{SCRIPTS}test_who_waits_long_for_binder_is_told_so": [
            ("patience after the end", "clearTimeout(tellSlow);", ""),
        ],
        f"{SCRIPTS}test_what_went_wrong_at_binder_is_told_by_how_far_it_was": [
            ("always silent", "phase ? broken() : silent()", "silent()"),
            ("a failure waited out", 'told.phase === "failed"', "false"),
        ],
    },
    "_static/live/answers.mjs": {
        f"{SCRIPTS}test_what_was_typed_is_found_again_under_its_own_chapter_and_cell": [
            (
                "one answer for all cells",
                "`${prefix}${this.chapter} ${cell}`, source",
                "`${prefix}${this.chapter}`, source",
            ),
        ],
        f"{SCRIPTS}test_what_another_tab_typed_is_set_aside_and_not_lost": [
            ("the other tab's lost", "this.write(OTHER, cell, there)", "undefined"),
            ("one's own set aside, too", "there !== this.ours.get(cell) && ", ""),
        ],
        f"{SCRIPTS}test_a_browser_that_is_full_is_complained_of_once": [
            ("at each letter", "this.complain = undefined;", ""),
        ],
    },
}
