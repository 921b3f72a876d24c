"""Faults planted in what the Makefile runs."""

from planted_faults.kinds import Faults

BENCH = "tools/bench/test_bench.py::"
GRADER = "tools/grade/test_grader.py::"
WALLS = "tools/grade/test_walls.py::"
NOTEBOOKS = "tools/chapters/test_notebooks.py::"
PAGES = "tools/site/test_browser_and_server.py::"
LIVE = "tools/site/test_live.py::"
GUARDED = "tools/site/test_live_guarded.py::"
OTHERS = "tools/site/test_live_other_users.py::"
STARTED = "tools/site/test_live_start.py::"

FAULTS: Faults = {
    "tools/chapters/models": {
        "test_what_is_trained_is_stored_and_what_no_recipe_makes_goes": [
            ("left behind", "        left.unlink()\n", "        pass\n"),
            ("notes forgotten", ", folder, history.notes)", ", folder)"),
            ("the other seed's", "train(STORED_SEED, weights.STORED)", "train(FRESH_SEED, weights.STORED)"),
        ],
        "test_a_fresh_training_is_of_another_seed_and_leaves_the_stored_one_alone": [
            ("stored all the same", "train(FRESH_SEED, Path(folder))", "train(FRESH_SEED, weights.STORED)"),
            ("failures forgiven", "return 1 if failures else 0", "return 0"),
            ("the same seed", "train(FRESH_SEED, Path(folder))", "train(STORED_SEED, Path(folder))"),
        ],
        "test_the_seeds_differ": [
            ("one seed", "STORED_SEED, FRESH_SEED = 0, 1", "STORED_SEED, FRESH_SEED = 0, 0")
        ],
    },
    "tools/progress": {
        "test_the_line_says_the_share_the_time_left_and_what_is_done": [
            ("the time that it took", "took * (1 - self.share) / self.share", "took"),
        ],
    },
    "tools/site/browser": {
        f"{PAGES}test_the_system_s_chromium_comes_first": [
            (
                "another browser taken",
                "if (path := shutil.which(name))",
                "if (path := shutil.which(name + name))",
            ),
        ],
        f"{PAGES}test_a_missing_chromium_is_told_in_one_line": [
            ("a browser that is not there", "if not found.exists():", "if False:"),
        ],
    },
    "tools/grade/grader": {
        "test_answers_that_are_not_right_are_no_pass_whatever_is_said_of_them": [
            ("wrong answers believed", "all(attempt.passed for attempt in attempts)", "True"),
            ("gradients not looked at", "(check.trained and gradient_fault(tried))", "False"),
        ],
        "test_a_pass_without_answers_is_not_believed": [
            ("answers left out", "zip(check.cases, answers, strict=True)", "zip(check.cases, answers)"),
            ("what is no answer believed", "        right = False", "        right = True"),
        ],
        "test_a_folder_without_hand_ins_is_told_in_one_line": [
            ("a traceback", "except (UnreadableError, UnwalledError, OSError) as", "except OSError as"),
        ],
        "tools/grade/test_walls.py::test_without_walls_nothing_is_graded_unless_it_is_asked_for": [
            ("graded all the same", "if not walled and not trusted:", "if False:"),
            ("whoever says it last", "in told and hand_in.walled is None", "in told"),
        ],
    },
    "tools/grade/sandbox": {
        f"{WALLS}test_without_walls_no_line_of_a_hand_in_runs_unless_it_is_trusted": [
            ("run all the same", "if walled or order.trusted:", "if True:"),
        ],
        f"{GRADER}test_tensors_cross_as_plain_data": [
            ("values of one kind", "dtype=dtype).reshape", "dtype=torch.float32).reshape"),
        ],
        f"{GRADER}test_every_exercise_of_the_book_can_be_passed": [
            ("gradients not sent", "not check.trained", "check.trained"),
            ("an experiment's shares not sent", "said.append(work(*inputs))", "said[:] = [work(*inputs)]"),
        ],
    },
    "tools/grade/walls": {
        f"{WALLS}test_processes_are_limited_only_where_its_own_are_counted": [
            ("processes without end", "    if walled:\n", "    if False:\n"),
            ("all that the user runs counted", "    if walled:\n", "    if True:\n"),
        ],
    },
    "tools/grade/table": {
        f"{GRADER}test_a_spreadsheet_does_not_reckon": [
            ("formulas let through", "if cell.startswith(FORMULA)", "if cell == FORMULA"),
        ],
    },
    "tools/site/links": {
        "test_what_the_answers_come_to": [
            ("refused pages taken for dead", "unauthorized|403|429", "unauthorized"),
            ("dead pages forgiven", "return 1 if dead else 0", "return 0"),
            ("no network taken for dead pages", "if len(dead) == len(links):", "if False:"),
        ],
        "test_where_nothing_could_be_asked_it_says_why": [
            ("a reason withheld", "nothing was asked\\n{run.stderr}", "nothing was asked"),
        ],
        "test_the_place_of_a_link_in_a_notebook_is_its_cell_and_line": [
            ("lines counted from 2", "line {line - 1}", "line {line}"),
            ("pages taken for notebooks", '.endswith(".ipynb")', '.endswith("")'),
        ],
    },
    "tools/chapters/stamps": {
        f"{NOTEBOOKS}test_an_edit_of_the_package_counts_for_the_chapters_that_import_it": [
            ("what imported rooms import", "waiting += [*imported_modules(", "_ = [*imported_modules("),
        ],
        "test_words_and_layout_change_nothing": [
            ("docstrings count", "isinstance(node, DOCUMENTED) and ", "False and "),
            (
                "a docstring leaves a gap",
                "                ended.add(row)\n            lines",
                "            lines",
            ),
            ("comments count", "if kind == tokenize.COMMENT:", "if False:"),
        ],
        "test_it_is_the_same_on_each_system_and_each_python": [
            ("another order", "key=Path.as_posix)", "reverse=True)"),
        ],
        "test_whatever_code_does_counts": [
            ("first lines of functions left out", "ast.get_docstring(node, clean=False) is not None", "True"),
            ("blanks in strings left out", "line.rstrip() if row in ended else line", "line.rstrip()"),
            ("empty lines of strings left out", "if line or row not in ended", "if line"),
        ],
        "test_the_words_of_a_cell_count": [
            ("cells left out", 'digest.update(text(cell["source"]).encode() + b"\\0")', "pass"),
        ],
        "test_the_sample_texts_count_for_the_chapters_that_read_text": [
            (
                "texts of another folder",
                '(book / "attnlab" / "corpora" / "data" / "sample")',
                '(book / "attnlab" / "corpora" / "data" / "samples")',
            ),
            ("line ends of a system", '.replace(b"\\r\\n", b"\\n")', ""),
        ],
        "test_code_that_does_not_parse_is_told_with_its_place": [
            ("a file without a name", "ast.parse(source, name)", "ast.parse(source)"),
            ("magic lines parsed", "( *)[%!].*", "( *)[!].*"),
        ],
    },
    "tools/chapters/notebooks": {
        "test_a_chapter_stored_wrongly_is_named": [
            (
                "counts with gaps",
                "if counts != list(range(1, len(cells) + 1)):",
                "if counts != sorted(counts):",
            ),
            ("figures without words", "elif figures and not alt_text(cell).strip():", "elif False:"),
            ("two figures in a cell", "if len(figures) > 1:", "if len(figures) > 2:"),
            ("errors stored", 'output.output_type == "error"', 'output.output_type == "stderr"'),
            ("HTML that nothing compares", 'and "text/plain" not in data', "and not data"),
            ("a cell one line too long", "> LONGEST_CELL:", "> LONGEST_CELL + 1:"),
            ("metadata of other programs", "set(notebook.metadata) - known", "set()"),
        ],
        "test_an_edit_after_the_run_is_named": [
            ("outputs edited by hand", 'stored.get("outputs") != made["outputs"]', "False"),
            ("code edited after the run", 'stored.get("code") != made["code"]', "False"),
        ],
        "test_half_a_notebook_is_named_with_what_mends_it": [
            ("only the first told", "lines.append(str(error))", "raise"),
        ],
        "test_an_unlisted_chapter_is_named": [
            ("a chapter that no table lists", "if path.stem not in dict(registry.listed(toc)):", "if False:"),
        ],
    },
    "tools/chapters/refresh": {
        f"{NOTEBOOKS}test_a_figures_alt_text_comes_from_its_code": [
            ("figures without words", 'image["alt"] = data["text/plain"]', "pass"),
        ],
        f"{NOTEBOOKS}test_what_a_claim_measured_is_not_compared_and_its_words_are": [
            ("measured values compared", '{"text/html", CLAIM, PICTURE}', '{"text/html", PICTURE}'),
            (
                "words not compared",
                '{"text/html", CLAIM, PICTURE}',
                '{"text/plain", "text/html", CLAIM, PICTURE}',
            ),
        ],
        f"{NOTEBOOKS}test_a_chapter_is_executed_and_stored_as_far_as_needed": [
            ("executed in any case", "execute_it = everything or", "execute_it = True or"),
            ("stored in any case", "for known in (stored, committed(path)):", "for known in ():"),
        ],
        f"{NOTEBOOKS}test_a_chapter_whose_code_changed_is_stored_anew": [
            ("what fits no more taken as it is", "execute_it = everything or", "execute_it = everything and"),
        ],
        f"{NOTEBOOKS}test_a_readers_run_leaves_no_trace_where_it_said_the_same": [
            ("the commit forgotten", "for known in (stored, committed(path)):", "for known in (stored,):"),
        ],
        f"{NOTEBOOKS}test_a_run_that_says_something_else_is_stored": [
            ("what was said before kept", "same_code and says_the_same(known, fresh)", "same_code"),
        ],
        f"{NOTEBOOKS}test_a_chart_has_a_picture_that_changes_nothing_and_words_for_it": [
            ("a chart without a picture", "data[PICTURE] = base64", "_ = base64"),
            ("a chart without words", 'cell.metadata["alt"] = data["text/plain"]', "pass"),
        ],
        f"{NOTEBOOKS}test_solutions_are_folded_in_jupyterlab_and_colab_and_other_cells_are_not": [
            ("a solution open in Colab", ', "cellView": "form"', ""),
            ("a report folded for ever", 'for setting in ("jupyter", "cellView"):', "for setting in ():"),
        ],
    },
    "tools/binder": {
        "test_a_pin_is_the_one_for_binders_python": [
            ("a pin for another Python", "if applies(line)}", "}"),
        ],
        "test_what_binder_has_and_what_only_cuda_needs_is_left_out": [
            ("Binder's own installed again", "if name not in there and name", "if name"),
            ("CUDA where no GPU is", "and not FOR_CUDA.match(name)", ""),
            ("what packages need left out", "waiting += filter(", "filter("),
        ],
        "test_only_what_chapters_import_is_asked_for": [
            ("the site's packages, too", "(.*?)^\\n", "(.*)"),
        ],
    },
    "tools/site/files": {
        f"{PAGES}test_the_server_compresses_text_and_stands_where_the_site_will": [
            ("nothing compressed", "if kind and", "if False and"),
            ("the site at another address", ".removeprefix(self.address)", ""),
        ],
        f"{PAGES}test_who_can_t_unpack_gets_text_as_it_is": [
            ("compressed for everybody", ' and "gzip" in encodings', ""),
        ],
        f"{PAGES}test_what_a_browser_has_does_not_come_again_until_it_changes": [
            ("sent again", 'headers["ETag"] in kept', "False"),
            ("never again", "hashlib.sha256(body).hexdigest()[:16]", "1"),
        ],
        f"{GUARDED}test_what_is_not_of_the_site_is_not_there": [
            ("all of the disk", "NAME.fullmatch(name) and", ""),
        ],
        f"{LIVE}test_pages_say_where_their_kernels_are_and_the_files_stay_as_they_are": [
            ("another status", "200 if file else 404", "200"),
        ],
    },
    "tools/site/guard": {
        f"{GUARDED}test_a_page_of_another_origin_is_refused_token_or_not": [
            ("every origin heard", ' and origins <= {f"http://{host}"}', ""),
            (
                "any page of this machine heard",
                "origins <= {",
                'all("127.0.0.1" in one for one in origins) or {',
            ),
            ("those of websockets forgotten", '{*headers.get_list("Origin"), ', "{"),
        ],
        f"{GUARDED}test_a_name_that_was_made_to_lead_here_is_refused": [
            ("every name heard", "hostname in LOOPBACK and", "hostname != 1 and"),
            ("half a name", "    except ValueError:", "    except TypeError:"),
        ],
        f"{GUARDED}test_this_machine_s_own_names_are_heard_at_any_port": [
            ("one name", '"127.0.0.1", "localhost", "::1"', '"127.0.0.1"'),
        ],
        f"{GUARDED}test_without_the_token_nothing_answers": [
            ("any token", "if secrets.compare_digest(sent.encode(), self.token.encode())", "if sent"),
            ("no token", "if secrets.compare_digest(sent.encode(), self.token.encode())", "if 1"),
        ],
        f"{GUARDED}test_cookies_open_nothing_and_none_is_set": [
            (
                "cookies read",
                'get_token(handler) or ""',
                'get_token(handler) or handler.get_cookie("token", "")',
            ),
        ],
        f"{GUARDED}test_a_browser_is_told_to_keep_other_pages_away": [
            ("to be framed", "frame-ancestors 'self'", "frame-ancestors *"),
        ],
    },
    "tools/site/kernels": {
        f"{LIVE}test_a_page_too_many_is_told_so_in_one_sentence": [
            ("no end of kernels", ">= MOST", ">= 99"),
            ("Jupyter's words", "        return FULL", "        return repr(self)"),
        ],
        f"{LIVE}test_of_a_kernel_that_died_the_page_is_told_and_it_may_begin_anew": [
            ("started anew in silence", '"restart_limit": 0', '"restart_limit": 5'),
        ],
        f"{LIVE}test_a_kernel_whose_page_is_gone_for_long_is_ended_and_no_other": [
            ("never ended", "elif now - since >= GONE", "elif False"),
            ("ended with its page there", "if self._kernel_connections.get(kernel_id)", "if False"),
        ],
        f"{LIVE}test_what_waits_for_a_page_has_an_end": [("no end", "maxlen=WAITING", "maxlen=None")],
        f"{LIVE}test_a_page_runs_code_beside_the_chapters_with_this_python": [
            ("in another folder", "root_dir=str(BOOK)", "root_dir=str(folder)"),
        ],
        f"{OTHERS}test_where_a_kernel_is_spoken_with_by_ports_who_has_no_key_hears_nothing": [
            ("in plain words", '"transport_encryption": "required"', '"transport_encryption": "disabled"'),
        ],
        f"{OTHERS}test_keys_and_sockets_are_closed_to_other_users": [
            ("by ports", 'else {"transport": "ipc"}', 'else {"transport": "tcp"}'),
        ],
    },
    "tools/site/live": {
        f"{GUARDED}test_from_the_network_nothing_is_to_be_had": [
            ("open to the network", 'bind_sockets(port, "127.0.0.1")', 'bind_sockets(port, "0.0.0.0")'),
        ],
        f"{GUARDED}test_each_start_has_a_token_of_its_own": [
            ("one for all", "secrets.token_hex(32)", '"0" * 64'),
        ],
        f"{GUARDED}test_a_large_request_is_not_read": [
            ("read", ", max_body_size=LARGEST", ""),
        ],
        f"{STARTED}test_a_browser_is_sent_on_by_a_file_that_only_this_user_can_read": [
            ("the token told to all", "browser.open(Path(name).as_uri())", "browser.open(address)"),
            ("left behind", "        Path(name).unlink()", "        pass"),
        ],
        f"{STARTED}test_without_a_window_no_browser_is_opened": [
            ("the terminal taken", "if type(browser) is not webbrowser.GenericBrowser:", "if True:"),
        ],
        f"{LIVE}test_what_stops_the_server_stops_its_kernels_and_leaves_nothing": [
            ("left to themselves", 'for name in ("SIGTERM", "SIGHUP")', 'for name in ("SIGTERM",)'),
        ],
    },
    "tools/bench/side_by_side": {
        f"{BENCH}test_turns_are_interleaved_and_mirrored": [
            ("always after the same other one", "order.reverse()", "pass"),
            ("timed cold", "timers[index].timeit(1)  # not", "pass  # not"),
        ],
        f"{BENCH}test_the_first_call_which_sets_up_is_not_measured": [
            ("set-up measured", "timer.timeit(1)  # the first call", "pass  # the first call"),
        ],
        f"{BENCH}test_a_short_run_is_called_many_times_for_one_sample": [
            ("many calls taken for one", ".timeit(calls[index]) / calls[index]", ".timeit(calls[index])"),
        ],
        f"{BENCH}test_ratio_shares_and_rate": [
            (
                "the ratio of other turns",
                "quartiles([a / b for a, _, b in turns])",
                "quartiles([a / turns[0][2] for a, _, b in turns])",
            ),
            (
                "the limit's share upside down",
                "statistics.median(least * c / a",
                "statistics.median(least * a / c",
            ),
        ],
        f"{BENCH}test_a_goal_is_met_by_what_is_shown": [
            ("digits that are not shown", "float(short(ratio)) <= goal", "ratio <= goal"),
        ],
        f"{BENCH}test_a_line_tells_the_ratio_its_spread_and_whether_the_goals_are_met": [
            ("every goal met", "'✓' if reached else '✗'", "'✓'"),
        ],
    },
    "tools/bench/the_package": {
        f"{BENCH}test_both_sides_do_the_same": [
            ("what is shown filled in", "scores.masked_fill(~mask", "scores.masked_fill(mask"),
        ],
        f"{BENCH}test_the_fast_path_is_on_again_after_it_was_off": [
            ("the fast path left off", "set_fastpath_enabled(True)", "set_fastpath_enabled(False)"),
        ],
        f"{BENCH}test_work_is_what_pytorch_counts": [
            ("one product of two", "            work = 4 * math.prod", "            work = 2 * math.prod"),
        ],
    },
    "tools/chapters/statements": {
        "test_a_number_is_held_by_what_is_near": [
            ("a bound's numbers forgotten", 'tuple(claim["numbers"].values())', "()"),
            (
                "what a claim names taken for its bound",
                'Holder("named", sentence',
                'Holder("claimed", sentence',
            ),
            ("a percentage taken as it is written", "(1, 100) if self.percent else (1,)", "(1,)"),
            ("powers not worked out", "return one**other if abs(other) <= 64 else None", "return None"),
            ("quotients not worked out", "return one / other if other else None", "return None"),
            ("what is printed forgotten", 'if output.output_type == "stream":', "if False:"),
        ],
        "test_a_number_that_nothing_holds_is_found": [
            ("a whole last digit of room", "margin=0.5 + 1e-6", "margin=1 + 1e-6"),
        ],
        "test_code_holds_what_it_gives_to_a_name_or_a_function": [
            ("arguments with a name forgotten", "*(one.value for one in named)", ""),
            ("defaults of named arguments forgotten", "[*defaults, *more]", "defaults"),
            ("the items of a dictionary forgotten", "[*names, *items]", "names"),
        ],
        "test_an_equal_literal_holds_no_result": [
            ("a claim's own arguments", 'id="claim" | "print"', 'id="print"'),
        ],
        "test_nobody_sets_a_share_or_a_ratio": [
            ("ratios of settings", "RESULTS if number.is_ratio else KINDS", "KINDS"),
        ],
        "test_what_another_section_measured_or_set_holds_nothing_by_chance": [
            ("any value of the chapter", 'if one.kind == "claimed" or one.section == IMPORTS]', "if one]"),
        ],
        "test_what_is_set_among_the_imports_holds_everywhere": [
            ("the imports left out", " or one.section == IMPORTS]", "]"),
        ],
        "test_a_solution_sets_what_its_exercise_states": [
            ("the solutions by themselves", ".replace(SOLUTIONS, EXERCISES)", ""),
        ],
        "test_what_states_nothing_is_left_out": [
            ("code taken for prose", 'r"(?ms)^```.*?^```",  # a block of code', ""),
            ("indices taken for numbers", r'(r"[\^_](?:\{[^{}]*\}|\w)", ""),  # exponents and indices', ""),
            ("a hundred per cent", "number.percent and number.value == 100", "False"),
            ("numbers of sections", r"(?:Sections?|§+|", "(?:§+|"),
        ],
    },
}
