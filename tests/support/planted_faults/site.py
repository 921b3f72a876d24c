"""Faults planted in the site's extensions."""

from planted_faults.kinds import Faults

EXTENSIONS, SMALL_BOOK, FOLDS, LEDGER, SEARCH, TOPICS, REPOSITORY, PLAYGROUND = (
    f"site/test_{name}.py::"
    for name in (
        "extensions", "small_book", "folds", "ledger", "search", "topics", "repository", "playground",
            )
)  # fmt: skip
PREDICTIONS, SOURCES = "site/test_predictions.py::", "site/test_sources.py::"

TRUTH, TALLY = "site/test_truth_script.py::", "site/test_tally_script.py::"

FAULTS: Faults = {
    "bookkit/playground": {
        "test_the_numbers_are_the_stored_weights": [
            ("bytes the other way round", '"<f2"', '">f2"'),
            ("matrices lying down", "tensor.half().numpy().ravel()", "tensor.half().numpy().T.ravel()"),
        ],
        "test_each_chapter_says_which_of_its_models_can_be_opened": [
            ("models of no chapter", 'if (folder / "playground.py").exists()', "if False"),
        ],
    },
    "chapters/the_transformer/playground": {
        "test_the_grammar_as_data_is_the_grammar": [
            ("chances lost", "round(chance, 5)", "1"),
            ("a state that nobody visits", "waiting.append(behind)", "pass"),
            ("an end that begins anew", "-1 if behind is None", "0 if behind is None"),
        ],
        "test_the_beginnings_offered_end_where_a_verb_far_from_its_subject_comes": [
            ("a beginning with its verb", "words[:verb]", "words[: verb + 1]"),
            ("subjects beside their verbs", "4 <= verb - subject", "1 <= verb - subject"),
        ],
        "test_the_translators_head_looks_at_the_words_that_are_translated_more_than_any_other": [
            ("the first head", "int(shares[place].argmax())", "0"),
        ],
        "test_the_language_models_head_looks_at_the_subject_more_than_any_other": [
            ("the article for the subject", "each[0, :, -1, 2]", "each[0, :, -1, 1]"),
        ],
    },
    "chapters/the_transformer/truth": {
        "test_the_table_lets_stand_what_the_grammar_lets_stand": [
            ("a look too short", "FORESIGHT = 3", "FORESIGHT = 2"),
            ("sentences without an end", '["end"] if read and not', '["end"] if False and not'),
        ],
        "test_the_table_is_as_small_as_it_can_be": [
            ("a state for each beginning", "FORESIGHT = 3", "FORESIGHT = 1"),
        ],
        "test_every_word_of_english_has_its_word_in_lingo": [
            ("plurals that are the plurals of themselves", "singular.get(word, word)", "word"),
            ("nouns without a plural", "noun + s: lingo + s for", "noun + s: lingo + 2 * s for"),
        ],
        "test_fifty_short_sentences_are_new_to_the_translator": [
            ("sentences of any length", "if 4 <= len(pair.english) <= 12", "if True"),
        ],
        "test_fifty_beginnings_stop_before_a_verb_far_from_its_subject": [
            ("subjects beside their verbs", "8 <= verb - subject", "1 <= verb - subject"),
            ("a beginning with its verb", "each[:verb]", "each[: verb + 1]"),
        ],
    },
    "_static/bench/truth.js": {
        f"{TRUTH}test_the_right_translation_is_the_grammars_in_thousands_of_sentences": [
            ("adjectives in the order of English", "endings.reverse()", "endings"),
            (
                "owners in front",
                "[...article, noun, ...endings.reverse(), ...owner]",
                "[...owner, ...article, noun, ...endings.reverse()]",
            ),
            ("verbs without a plural", '${plural ? "n" : ""}', ""),
        ],
        f"{TRUTH}test_the_first_word_that_can_not_stand_there_is_the_grammars_in_thousands_of_sentences": [
            ("a beginning for a whole", 'if ("end" in options)', "if (true)"),
        ],
        f"{TRUTH}test_what_is_no_sentence_is_told_why": [
            ("an adjective to agree with", '!== "adjective"', '!== ""'),
            ("the same word once more", "[Object.keys(truth.words[kind]).indexOf(word)]", "[0]"),
        ],
        f"{TRUTH}test_in_a_wrong_translation_only_the_wrong_words_are_marked": [
            ("missing words one by one", "missing.at(-1)?.at !== marks.length", "true"),
            ("the end for a word", "each !== data.written[data.end]", "true"),
        ],
        f"{TRUTH}test_a_verb_that_does_not_agree_is_told_its_subject": [
            (
                "the nearest noun",
                'words[place - 3] === "that" ? words[place - 1] : words[1]',
                "words[place - 1]",
            ),
            ("nothing judged behind it", "state = options[better]?.[1]", "state = options[word]?.[1]"),
        ],
    },
    "_static/bench/tally.js": {
        f"{TALLY}test_as_many_are_right_as_in_pytorch_and_the_same_are_wrong": [
            ("the likeliest of all words", "likeliestOf(logits.at(-1), ids)", "likeliestOf(logits.at(-1))"),
            ("the first round, too", "let place = round.length;", "let place = 0;"),
            ("every translation right", "if (right && ids", "if (ids"),
        ],
        f"{TALLY}test_held_out_text_costs_as_many_bits_as_in_pytorch": [
            ("nats for bits", "Math.log2", "Math.log"),
        ],
        f"{TALLY}test_what_was_chosen_in_the_sentence_shown_is_left_out_of_others": [
            ("a place of another sentence", "hidden: new Set(), ", ""),
        ],
    },
    "_ext/catalogue": {
        f"{EXTENSIONS}test_what_stands_between_backticks_is_code": [
            ("code and words exchanged", "if place % 2 else", "if place % 2 == 0 else"),
        ],
    },
    "_ext/charts": {
        f"{EXTENSIONS}test_a_slider_has_a_label_limits_and_its_value": [
            ("a label for another slider", '<label for="{chart}-{name}">', '<label for="{name}">'),
            ("a slider at its middle", '{limits} value="{value}">', "{limits}>"),
            (
                "signs of HTML in a label",
                'label = escape(bind.get("name", name))',
                'label = bind.get("name", name)',
            ),
        ],
        f"{EXTENSIONS}test_of_the_options_the_chosen_one_is_checked": [
            ("nothing chosen", "' checked' if option == value else ''", "''"),
        ],
        f"{EXTENSIONS}test_a_chart_carries_its_data_without_controls_of_vegas_own": [
            ("controls of Vega's own", 'signal.pop("bind", None)', "pass"),
            ("a script that its data end", '.replace("</", "<\\\\/")', ""),
            ("one width for all screens", 'vega | {"width": width}', "vega"),
        ],
    },
    "_ext/drawings": {
        f"{SMALL_BOOK}test_each_mistake_fails_the_build_with_file_and_line": [
            ("a drawing without words", "    if not words:", "    if False:"),
            ("a drawing too wide for a phone", "if width > widest + 4:", "if False:"),
        ],
    },
    "_ext/figures": {
        f"{EXTENSIONS}test_a_figure_brings_the_words_of_its_svg_and_a_photograph_none": [
            ("every picture read as SVG", 'if file.suffix != ".svg":', "if False:"),
            ("a title of no namespace", '"{http://www.w3.org/2000/svg}title"', '"title"'),
        ],
        f"{EXTENSIONS}test_a_node_without_a_line_takes_that_around_it": [
            (
                "the line of the page's first node",
                "while not node.line and node.parent:",
                "while node.parent:",
            ),
        ],
    },
    "_ext/formulas": {
        f"{EXTENSIONS}test_where_node_has_died_it_is_told_with_its_status_and_the_formula": [
            ("a dead Node unnoticed", "if not said:", "if False:"),
        ],
        f"{SMALL_BOOK}test_one_stylesheet_and_no_mark_without_a_colour": [
            ("the formulas' styles lost", "styles + own", "own"),
        ],
        f"{EXTENSIONS}test_the_font_needs_what_formulas_show_and_browsers_draw": [
            ("roots that the font lacks", " | {ROOT}", ""),
            (
                "letters that browsers slant",
                "{ITALIC[letter] for letter in written & ITALIC.keys()}",
                "set()",
            ),
            ("letters of the text", 're.findall("<math.*?</math>", page, re.DOTALL)', "[page]"),
            ("the old h", ' | {"h": "ℎ"}', ""),
        ],
    },
    "_ext/front": {
        f"{EXTENSIONS}test_a_chapter_opens_on_binder_in_the_release_that_the_site_is_built_from": [
            ("an address with a slash too many", '["repository_url"].rstrip("/")', '["repository_url"]'),
            ("the folder forgotten", "{options['path_to_docs']}/{chapter}", "{chapter}"),
        ],
    },
    "_ext/folds": {
        f"{FOLDS}test_a_tag_folds_a_cell_under_a_line_of_its_own": [
            ("a lesson without its picture", '"measurement": "hide-input"', '"measurement": "hide-cell"'),
            ("outputs counted for checks", "CLAIM in output", "True in [True] or output"),
            ("the page's own words lost", '.setdefault("code_prompt_show", words)', ""),
        ],
        f"{FOLDS}test_a_wrong_tag_is_named_with_its_cell": [
            ("two layers on one cell", "if len(found) > 1:", "if False:"),
            ("text in a layer", 'if found and cell["cell_type"] != "code":', "if False:"),
        ],
        f"{FOLDS}test_what_the_lesson_uses_may_not_be_defined_in_a_fold_alone": [
            ("a definition that is open, too", "self.folded.pop(one, None)", "pass"),
            (
                "a fold that uses a fold",
                "if layer:\n            self.folded",
                "if layer == 'x':\n            self.folded",
            ),
        ],
    },
    "_ext/ledger": {
        f"{EXTENSIONS}test_the_ledger_rounds_as_the_chapter_does_and_keeps_a_minus_with_its_number": [
            ("three digits for all", 'short(claim["measured"], claim["digits"])', 'short(claim["measured"])'),
            ("a hyphen for a minus", '.replace("-", "\\N{MINUS SIGN}")', ""),
        ],
        f"{LEDGER}test_what_is_claimed_twice_has_two_addresses_and_no_chapter_those_of_another": [
            ("one address for two rows", "{sentence} {before}", "{sentence}"),
            ("an address that moves with its row", "sentences[:place].count(sentence)", "place"),
            ("two chapters with the same addresses", "{page} {sentence}", "{sentence}"),
        ],
    },
    "_ext/pages": {
        f"{EXTENSIONS}test_a_fork_is_published_at_its_own_address": [
            ("an address of one's own lost", "config.html_baseurl or f", "f"),
        ],
        f"{EXTENSIONS}test_a_page_is_described_by_its_first_long_sentences_cut_at_a_word": [
            ("cut within a word", 'text[:157].rpartition(" ")[0]', "text[:157]"),
            ("a label taken for a sentence", ' and text.endswith(".")', ""),
            ("the first paragraph, however short", "len(text) > 60 and ", ""),
        ],
        f"{SMALL_BOOK}test_one_stylesheet_and_no_mark_without_a_colour": [
            ("marked and not coloured", "(?:n|p|o|w|", "(?:p|o|w|"),
        ],
    },
    "_ext/places": {
        f"{EXTENSIONS}test_a_message_names_cell_and_line": [
            ("lines counted from 2", "{int(found[3]) - 1}", "{int(found[3])}"),
            ("pages taken for notebooks", r"(\.ipynb):(\d+)", r"(\.\w+):(\d+)"),
        ],
    },
    "_ext/playground": {
        f"{PLAYGROUND}test_a_closed_playground_is_a_picture_and_a_button_that_says_what_comes": [
            ("one form for all", 'data-form="{form}"', 'data-form="full"'),
            ("files that weigh nothing", "sum(map(len, each))", "len(each)"),
            ("the size on the disk twice", "map(gzip.compress, comes.values())", "comes.values()"),
            ("a hash of something else", "hashlib.sha256(content)", "hashlib.sha256(content[:-1])"),
            ("the same first step for all", "drawn.slim if form", "drawn.invitation if form"),
        ],
        f"{PLAYGROUND}test_a_model_or_a_form_that_there_is_not_is_told": [
            ("any word taken for a form", "((model, openable()), (form, FORMS))", "((model, openable()),)"),
        ],
    },
    "_ext/predict": {
        f"{PREDICTIONS}test_a_training_behind_a_cover_is_announced_by_the_form_and_nothing_else_is": [
            ("a training unseen", "TRAINS if any(map(trains, covered)) else", '"" if covered else'),
        ],
        f"{EXTENSIONS}test_an_answer_must_be_a_finite_number": [
            ("an infinite answer", "if not math.isfinite(number):", "if math.isnan(number):"),
        ],
        f"{EXTENSIONS}test_a_number_is_asked_for_in_its_unit": [
            ("signs of HTML in a unit", "escape(given.get('data-unit', ''))", "given.get('data-unit', '')"),
            ("a label without its field", '<label for="{name}-value">', "<label>"),
        ],
        f"{EXTENSIONS}test_a_form_that_no_answer_fits_is_refused": [
            ("an answer that can't be chosen", "if answer not in choices:", "if False:"),
            ("no answer at all", "if not answer:", "if False:"),
        ],
        f"{PREDICTIONS}test_what_gives_a_guess_away_is_named_with_its_cell": [
            ("a cover of nothing", 'if not "".join(covered).strip():', "if False:"),
            ("an end of nothing", 'case "end" if not box:', 'case "end" if False:'),
            (
                "a cover without an end",
                '    if box:\n        yield box, f"nothing',
                '    if False:\n        yield box, f"nothing',
            ),
            ("a box in a cover", 'case "box" if box:', 'case "box" if False:'),
            ("a number in the open", "if gives_away(told, text):", "if False:"),
        ],
        f"{PREDICTIONS}test_a_guess_that_nothing_gives_away_is_in_order": [
            ("the question gives it away", '.rpartition("\\n\\n")[0]', ""),
            ("what was told elsewhere", 'box, told = 0, ""', "box = 0"),
            ("what is folded", '{"bookkeeping", "hide-cell"} & ', "set() & "),
        ],
    },
    "_ext/sources": {
        f"{SOURCES}test_a_name_is_shown_with_the_first_cell_that_uses_it": [
            ("each time anew", "self.shown.add(found)", "pass"),
        ],
        f"{SOURCES}test_all_else_is_not": [
            ("pictures, too", 'if LEFT_OUT & {*module.split(".")} or not', "if not"),
            ("other packages", ' and (part.module or "").partition(".")[0] in PACKAGES', ""),
        ],
        f"{SOURCES}test_a_cell_in_a_fold_shows_nothing_and_its_imports_hold": [
            ("folds, too", "if shows:", "if True:"),
        ],
        f"{SOURCES}test_a_definition_is_its_own_lines_with_its_decorators": [
            ("a line too few", "part.end_lineno]", "part.end_lineno - 1]"),
        ],
    },
    "_ext/repository": {
        f"{REPOSITORY}test_every_form_of_an_address_names_the_same_page": [
            ("a token taken for the site", r"(?:[^/@]+@)?", r"(?:\w+@)?"),
            ("an address with .git", r"(?:\.git)?/?", "/?"),
        ],
        f"{REPOSITORY}test_what_is_not_a_repository_on_github_is_no_page": [
            ("any address that names GitHub", "ADDRESS.fullmatch(address)", "ADDRESS.search(address)"),
        ],
        f"{REPOSITORY}test_a_copy_inside_another_repository_does_not_take_that_one": [
            ("the repository around a copy", '| {"GIT_CEILING_DIRECTORIES": str(project.parent)}', ""),
        ],
        f"{REPOSITORY}test_ci_goes_before_the_remote": [
            (
                "the remote before CI",
                "page(built) or page(origin(project))",
                "page(origin(project)) or page(built)",
            ),
        ],
        f"{REPOSITORY}test_a_machine_without_git_takes_the_default": [
            ("a machine without git", "except FileNotFoundError:", "except ValueError:"),
        ],
    },
    "_ext/search": {
        f"{SEARCH}test_a_formula_is_searched_as_one_would_type_it": [
            ("a root that is lost", 'return "√" + grouped', "return grouped"),
            ("a fraction without brackets", 'f"{grouped(above)} / {grouped(below)}"', 'f"{above} / {below}"'),
            ("letters that no font has", 'normalize("NFKC", letter[0])', "letter[0]"),
        ],
        f"{SEARCH}test_each_section_has_its_own_text_names_and_claims": [
            ("hints among the text", "details:not(", "details.no:not("),
            ("claims left out with their fold", "headerlink, ", "headerlink, details, "),
            ("words of comments for names", '" " if word[1] in NO_NAMES else word[2]', "word[2]"),
            ("all that cells print", " if MESSAGE.search(line)", ""),
            ("solutions among the sections", ' if section["id"] != "solutions"', ""),
            (
                "a section that holds those below it",
                'reversed(main.find_all("section"))',
                'main.find_all("section")',
            ),
        ],
    },
    "_ext/topics": {
        f"{TOPICS}test_a_label_of_a_cell_belongs_to_the_heading_that_the_cell_begins_with": [
            (
                "a label under the first heading of the cell above",
                "heading = headings[-1] if headings else heading",
                "heading = heading",
            ),
        ],
        f"{TOPICS}test_a_label_belongs_to_the_heading_above_it": [
            ("a label with its comment's sign", "LABEL.findall(line)", "re.findall('<!--.*-->', line)"),
        ],
    },
}
