"""Faults planted in what draws."""

from planted_faults.kinds import Faults

CHARTS = "bookkit/pictures/test_charts.py::"

TRANSLATORS = "chapters/translating_with_attention/test_models.py::"

READERS = "chapters/looking_inside/test_models.py::"

TRANSFORMERS = "chapters/the_transformer/test_models.py::"

FAULTS: Faults = {
    "bookkit/pictures/drawings": {
        "test_parts_and_their_places_stand_where_they_are_put": [
            ("parts on their tops", '{"top": 0.0, "middle": 0.5, "bottom": 1.0}[align]', "0.0"),
            ("a gap after the last", "lefts[-1] - gap,", "lefts[-1],"),
            ("a row on a phone", "return column(*pieces, gap=gap) if narrow else", "return"),
            (
                "places that stay behind",
                "Place(place.left + left, place.top + top,",
                "Place(place.left, place.top,",
            ),
        ],
        "test_a_shaded_grid_is_the_stronger_the_larger_the_number_and_never_hides_it": [
            ("cells that vanish", "max(FAINTEST, STRONGEST * size / largest)", "STRONGEST * size / largest"),
            ("strength of the number itself", "size / largest)", "size)"),
        ],
        "test_an_arrow_leaves_and_arrives_on_the_sides_that_face_each_other": [
            ("always from the side", "if max(right, left) > max(below, above):", "if True:"),
            ("into the frame", "x2 + back[0] * head, y2 + back[1] * head", "x2, y2"),
        ],
        "test_a_drawing_that_nobody_could_read_is_refused": [
            ("too wide for a phone", "if part.width > WIDEST[screen]:", "if part.width > 740:"),
            ("no words", "if not alt.strip():", "if not alt:"),
        ],
        "test_words_too_long_for_their_cell_are_refused": [
            ("letters that nobody reads", "if size < SMALLEST:", "if size < 1:"),
        ],
    },
    "bookkit/pictures/svg": {
        "test_indices_are_lowered_and_what_follows_stands_on_the_line_again": [
            ("exponents lowered", 'if found[1] == "_" else -0.35', 'if found[1] == "_" else 0.35'),
            ("what follows stays low", "_at_level(words[end:], -level)", "_at_level(words[end:], 0)"),
            ("signs of HTML in words", "plain = escape(words, quote=False)", "plain = words"),
        ],
        "test_lines_break_between_words_where_a_width_is_given": [
            ("an empty first line", "if width and lines[-1] and", "if width and"),
        ],
        "test_marks_are_drawn_where_they_are_told": [
            (
                "a head beyond the point",
                "end = x2 - direction[0] * head, y2 - direction[1] * head",
                "end = x2, y2",
            ),
        ],
    },
    "bookkit/pictures/charts": {
        "test_a_chart_without_a_description_is_refused": [
            ("a blank taken for a description", '.get("description", "").strip()', '.get("description", "")'),
        ],
        "test_a_cell_stores_the_chart_and_its_description": [
            ("Altair's own HTML stored", 'alt.renderers.enable("attnlab")', 'alt.renderers.enable("html")'),
        ],
        "test_the_softmax_of_great_scores_does_not_overflow": [
            ("a softmax that overflows", "exp(datum.score - datum.highest)", "exp(datum.score)"),
        ],
        "test_a_slider_goes_from_end_to_end_by_its_steps": [
            ("a slider without its steps", ", step=step)", ")"),
            ("a slider that begins at its end", "value=value, bind=bind)", "value=lowest, bind=bind)"),
        ],
        "test_a_choice_begins_as_it_is_told": [
            ("a choice that begins with the first", "value=value, bind=alt.", "value=options[0], bind=alt."),
        ],
        "test_a_readout_stands_at_its_side_and_is_named_for_the_page": [
            ("every readout on the left", '0 if side == "left" else "width"', "0"),
            ("a readout that the page can't find", '.properties(name="readout")', ""),
        ],
    },
    "bookkit/pictures/figures": {
        "test_a_figure_is_the_same_text_each_time": [
            ("new ids at every run", '    "svg.hashsalt": "attention-measured",\n', ""),
        ],
        "test_differences_in_the_last_digits_do_not_change_the_figure": [
            ("every digit drawn", "kept = [round(float(n), int(d))", "kept = [float(n)"),
        ],
        "test_a_figure_holds_both_sets_of_colours_and_no_date": [
            ("the day of its making", '("Date", "Creator", ', '("Creator", '),
            ("colours of the light page alone", 'text.replace(light, f"var(--{name})")', "text"),
        ],
        "test_the_description_is_in_the_figure_and_beside_it": [
            ("a picture without words", '"text/plain": alt,', '"text/plain": "",'),
        ],
        "test_a_figure_without_a_description_is_refused": [
            ("a figure without words", "if not alt.strip():", "if False:"),
        ],
        "test_three_decimals_are_kept_and_three_digits_of_what_is_smaller": [
            ("small numbers rounded away", "np.maximum(3, 2 - np.floor", "np.minimum(3, 2 - np.floor"),
            ("0 taken for a small number", "np.where(array == 0, 1, array)", "array"),
        ],
        "test_curves_are_lines_through_the_numbers_in_bands": [
            ("a band around another line", "if spread and name in spread:", "if spread:"),
            (
                "a logarithmic axis forgotten",
                "if x_axis.log:\n        axes.set_xscale",
                "if False:\n        axes.set_xscale",
            ),
        ],
        "test_no_two_lines_look_alike": [
            ("colour the only difference", "marker=marker, ls=dash, label", "label"),
        ],
        "test_a_legend_names_lines_where_there_are_several": [
            ("a legend of one", "elif len(series) > 1:", "else:"),
        ],
        "test_results_of_many_seeds_are_their_mean_from_the_worst_to_the_best": [
            ("the median for the mean", "float(seeds.mean())", "float(seeds.median())"),
            ("a band from the mean", "float(seeds.min())", "float(seeds.mean())"),
        ],
        "test_a_heat_map_writes_each_weight_into_its_cell": [
            (
                "rows and columns exchanged",
                "xticklabels=list(columns), yticklabels=list(rows)",
                "xticklabels=list(rows), yticklabels=list(columns)",
            ),
            ("cells without their numbers", "annot=True", "annot=False"),
        ],
    },
}
