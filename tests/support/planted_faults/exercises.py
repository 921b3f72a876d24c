"""Faults planted in what checks exercises."""

from planted_faults.kinds import Faults

MISTAKES = "bookkit/checking/test_mistakes.py::"
ANY_CODE = "bookkit/checking/test_exercise_and_any_code.py::"

FAULTS: Faults = {
    "bookkit/checking/answers": {
        "test_a_result_is_copied": [("not copied", "part.detach().clone()", "part.detach()")],
        "test_of_an_enormous_result_of_another_shape_nothing_is_copied": [
            ("copied whatever its size", "and part.numel() > LARGE", "and part.numel() < 0"),
        ],
        "test_nothing_goes_on_with_an_enormous_result": [
            ("no limit to what goes on", "answer.numel() > ENORMOUS", "answer.numel() < 0"),
        ],
        "test_an_enormous_result_is_close_to_nothing": [
            ("what has no numbers compared", " or got.is_meta or expected.is_meta", ""),
        ],
        "test_a_single_result_that_is_as_long_as_all_results_is_told": [
            ("numbers taken for results", "all(isinstance(part, Real) for part in parts)", "False"),
        ],
        "test_a_whole_number_may_come_in_any_type": [
            ("a tensor is no number", "part = part.item()", "pass"),
        ],
        "test_a_whole_number_must_be_equal": [
            ("rounded when read", "number == number.trunc()", "number == number"),
        ],
        "test_a_whole_number_is_shown_whole": [
            ("floats stay floats", "return number.long() if is_whole else number", "return number"),
            ("infinity made whole", " and number.abs() < 2**63", ""),
        ],
        "test_whole_numbers_are_compared_without_a_tolerance": [
            ("a tolerance for all", "not expected.is_floating_point() or expected", "expected"),
        ],
        "test_any_whole_numbers_will_do_for_whole_numbers": [
            (
                "whole numbers of one type",
                "expected.is_floating_point() and expected.dim()",
                "expected.dim()",
            ),
        ],
        "test_true_or_false_are_no_whole_numbers": [
            (
                "bool taken for a number",
                'return "true or false" if tensor.dtype is torch.bool else "whole"',
                'return "whole"',
            ),
        ],
        "test_what_is_no_number_is_refused": [("True taken for 1", "isinstance(part, bool) or ", "")],
        "test_precision_counts": [("any precision will do", "and got.dtype != expected.dtype", "and False")],
        "test_rounding_is_forgiven_and_no_more": [
            ("a lax tolerance", "TOLERANCE = 1e-4", "TOLERANCE = 1e-3"),
            ("every gap is a rounding", "scale = max(0.01,", "scale = max(1.0,"),
            ("NaN unlike NaN", ", equal_nan=True", ""),
        ],
        "test_of_equal_differences_the_first_is_shown": [
            ("the largest by a hair", "largest * (1 - TOLERANCE)", "largest"),
        ],
        "test_of_true_and_false_the_first_difference_is_shown": [
            (
                "True and False subtracted",
                "if truths else (got - expected)",
                "if False else (got - expected)",
            ),
            ("a size told of them", '"first difference" if truths', '"first difference" if False'),
        ],
        "test_what_is_not_finite_comes_first": [("NaN is no gap", "nan=math.inf, posinf", "nan=0, posinf")],
        "test_a_list_of_results_will_do": [
            ("a list is no answer", "isinstance(answer, (tuple, list))", "isinstance(answer, tuple)")
        ],
    },
    "bookkit/checking/attempts": {
        "test_a_case_gives_fresh_inputs_each_time": [
            ("copies share what they hold", "copy.deepcopy(value)", "copy.copy(value)"),
        ],
        "test_a_changed_tensor_is_noticed": [
            (
                "a change of values missed",
                "kinds[0] == kinds[1] and torch.equal(before, after)",
                "kinds[0] == kinds[1]",
            ),
            (
                "a change of dtype missed",
                "(tensor.dtype, tensor.device, tensor.requires_grad)",
                "(tensor.device, tensor.requires_grad)",
            ),
        ],
        "test_a_changed_object_is_noticed": [
            ("what a module holds missed", "return _same(vars(before), vars(after))", "return True"),
            ("a removed attribute missed", "before.keys() == after.keys() and all(", "all("),
            ("a longer list missed", "len(before) == len(after) and all(", "all("),
        ],
        "test_gradients_are_asked_of_floating_point_inputs_alone": [
            ("gradients of whole numbers", "value, Tensor) and value.is_floating_point()", "value, Tensor)"),
            ("never any gradient", "if self.trainable and is_floating(value)", "if False"),
        ],
        "test_the_gradients_of_several_numbers_do_not_cancel": [
            ("a plain sum", "(part * factor).sum()", "part.sum()")
        ],
        "test_gradients_are_found_where_recording_is_off": [
            ("recording left off", "with torch.enable_grad():", "if True:")
        ],
        "test_a_stub_is_told_from_an_error": [
            ("PyTorch's NotImplementedError taken for a stub", " and not self.error.args", ""),
        ],
        "test_two_attempts_are_alike_where_they_fail_alike": [
            ("any two errors are alike", "self.trouble == other.trouble and ", ""),
        ],
        "test_where_no_input_is_a_tensor_no_input_is_a_reason": [
            ("a reason out of nothing", "if any(map(is_floating, self.case.inputs)) else", "if True else"),
        ],
        "test_numbers_that_stand_for_something_are_said_in_words": [
            ("numbers alone", "if meanings := self.task.meanings.get(name):", "if meanings := None:"),
        ],
        "test_work_that_trains_is_tried_on_the_cases_alone": [
            ("trained again and again", "if not self.task.again:", "if False:"),
        ],
    },
    "bookkit/checking/exercise": {
        "test_two_mistakes_that_others_give_as_well_are_not_told": [
            (
                "the first that fits",
                "fitting[0] if len(fitting) == 1 else None",
                "fitting[0] if fitting else None",
            ),
        ],
        "test_two_mistakes_are_not_told_before_all_pairs_are_tried": [
            (
                "told before the end",
                "if search.worked > search.seconds * max(0.1, done / len(every)):",
                "if False:",
            ),
        ],
        "test_who_waits_reads_what_is_being_asked": [
            (
                "shown too early",
                "bar.set_description(case.label, refresh=False)",
                "bar.set_description(case.label, refresh=True)",
            ),
            ("not told how far", "bar.update(len(attempts) - bar.n)", "pass"),
        ],
        "test_who_would_need_far_longer_for_all_pairs_does_not_wait_till_the_end": [
            ("waits to the end", "max(0.1, done / len(every))", "1"),
        ],
        "test_a_known_mistake_is_named_by_its_own_sentence_alone": [
            (
                "the first mistake is every mistake",
                "if all(mine.like(self._made(name, place)) for place, mine in enumerate(tried.attempts)):",
                "if True:",
            ),
            ("an input beside the name", "if tried.failed and not verdict.known:", "if tried.failed:"),
        ],
        "test_a_stub_is_not_written_yet": [
            ("a docstring is code", "{None, ..., work.__doc__}", "{None, ...}"),
            ("None is an answer", "if work is None or work is ... or", "if work is ... or"),
        ],
        "test_a_check_ends_within_about_the_limit": [
            (
                "the time begins anew for each case",
                "partial(guard.guarded, until=Deadline(guard.TIME_LIMIT))",
                "guard.guarded",
            ),
            (
                "every case waits",
                "if attempts[-1].stopped:\n                    break",
                "if False:\n                    break",
            ),
        ],
        f"{ANY_CODE}test_a_replaced_part_of_pytorch_ends_in_words_too": [
            (
                "a broken PyTorch raises",
                "        except Exception as error:\n            return self._broken_off",
                "        except KeyError as error:\n            return self._broken_off",
            ),
        ],
        f"{ANY_CODE}test_whatever_is_judged_the_next_random_number_is_the_same": [
            ("what mistakes draw is missed", "with torch.random.fork_rng(devices=[]):", "if True:"),
        ],
        f"{ANY_CODE}test_a_fault_of_the_check_is_not_blamed_on_the_reader": [
            ("the reader blamed", "if guard.replaced() or not _is_ours(error):", "if True:"),
        ],
        f"{ANY_CODE}test_what_the_readers_code_raises_outside_of_the_guard_is_no_fault_of_the_check": [
            ("the check blamed", "if guard.replaced() or not _is_ours(error):", "if guard.replaced():"),
        ],
        f"{ANY_CODE}test_what_a_class_makes_in_its_place_is_told_so": [
            ("a module taken for a class", 'hasattr(type(work), "forward")', "False"),
        ],
        f"{ANY_CODE}test_a_class_in_place_of_what_it_makes_is_told_so": [
            ("a class taken for a function", "if self.ask is call and is_class:", "if False:"),
        ],
        "test_a_right_answer_that_changes_something_has_not_passed": [
            ("settings may change", "= not verdict.changes", "= True"),
        ],
        "test_an_unknown_fault_shows_the_smallest_input_that_fails": [
            ("the largest input", "attempt = tried.failed[0]", "attempt = tried.failed[-1]"),
            ("gradients judged of wrong numbers", "None if tried.failed else not verdict.", "not verdict."),
        ],
    },
    "bookkit/checking/findings": {
        "test_what_is_seen_is_named_and_said": [
            ("no sign", "if close(factor, -torch.ones_like(factor)):", "if False:"),
            ("the wrong way", 'size = "larger" if gap > 0', 'size = "larger" if gap < 0'),
            ("axes unseen", "all(attempt.passed for attempt in without)", "False"),
            (
                "lost gradients unseen",
                "if lost := [name for name in right if name not in given]:",
                "if lost := []:",
            ),
            ("wrong gradients unseen", "if not close(given[name], right[name])", "if False"),
            ("objects written into", "if kinds - {Tensor}:", "if False:"),
        ],
        "test_between_true_and_false_no_constant_is_sought": [
            ("constants sought", "if pairs[-1][1].dtype is torch.bool:", "if False:"),
        ],
        "test_nothing_is_seen_where_it_is_not_so": [
            (
                "a factor for each case is constant",
                "all(close(undo(right, constant), got) for got, right in pairs)",
                "True",
            ),
            (
                "wrong anywhere is wrong with axes",
                "any(attempt.passed for attempt in batched)",
                "all(attempt.passed for attempt in batched)",
            ),
            ("one other value tells enough", "[1 - value, value.roll(1)]", "[1 - value]"),
            (
                "one result explained is all",
                "if not all(explains(*pair) for pair in wrong):",
                "if not any(explains(*pair) for pair in wrong):",
            ),
        ],
        "test_large_numbers_are_seen_where_smaller_ones_are_right": [
            ("numbers never large", "SMALLER = 1 / 16", "SMALLER = 1.0"),
        ],
        "test_what_is_never_finite_has_nothing_to_do_with_large_numbers": [
            ("NaN is always large", "if smaller is None or not smaller.passed:", "if False:"),
        ],
        "test_weights_that_are_all_zero_are_not_called_rounded": [
            ("zeros are rounded", " or right.abs().max() <= 1:", ":"),
        ],
        "test_where_the_right_answer_never_changes_no_constant_is_seen": [
            (
                "a constant of one number",
                "varied = not all(close(right, pairs[0][1]) for _, right in pairs)",
                "varied = True",
            ),
        ],
        "test_axes_are_not_blamed_for_a_dtype": [("axes blamed", "if same_dtypes and right", "if right")],
        "test_an_answer_that_is_never_finite_tells_nothing_of_the_inputs": [
            ("NaN ignores all inputs", "if not all(part.isfinite().all()", "if not all(True"),
        ],
        "test_what_was_stopped_is_not_looked_at": [
            ("stopped, and looked at", "if tried.attempts[-1].stopped:", "if False:"),
        ],
        "test_what_a_helper_calls_in_turn_is_not_named": [
            ("what helpers call is named, too", " and not found(frame.f_back)", ""),
        ],
        "test_what_the_question_itself_calls_is_no_doing_of_the_readers": [
            ("the question's calls blamed", " - _called(tried, tried.task.reference)", ""),
            ("calls looked at ever after", "sys.setprofile(before)", "pass"),
        ],
    },
    "bookkit/checking/remarks": {
        "test_right_code_passes_with_a_remark": [
            ("loops unseen", "MORE_CALLS = 3", "MORE_CALLS = 3000"),
            ("repetitions unseen", "if signature in self._done else []", "if False else []"),
            ("overflow unseen", "LARGER = 64.0", "LARGER = 1.0"),
        ],
        "test_other_right_code_passes_without": [
            ("a changed tensor is the same", ", value._version", ""),
        ],
        "test_exercises_that_nothing_trains_through_get_no_remarks": [
            ("a remark on everything", "if not tried.task.trained:", "if False:"),
        ],
    },
    "bookkit/checking/report": {
        "test_the_books_own_solution_hands_nothing_in": [
            ("the book hands in", 'work.__name__ != "solution"', 'work.__name__ != ""'),
        ],
        "test_a_function_of_the_readers_that_is_called_solution_counts": [
            ("the name decides", "return digest(inspect.getsource(work)) in _solutions()", "return True"),
        ],
        "test_judging_and_trying_hand_nothing_in": [
            (
                "trying hands in",
                "name: self.judge(self.mistaken(mistake))",
                "name: self(self.mistaken(mistake))",
            ),
        ],
    },
    "bookkit/checking/puzzle": {
        "test_what_is_seen_in_any_puzzle": [("any axis is of length 1", "if ones == {1}:", "if ones:")],
        "test_what_lacks_an_axis_of_length_1_or_has_another_order_is_told_so": [
            ("order unseen", "if Counter(shape) == Counter(right):", "if False:"),
            (
                "more for fewer",
                'if len(shape) > len(right) else "missing"',
                'if len(shape) < len(right) else "missing"',
            ),
        ],
        "test_a_number_is_told_how_a_shape_of_one_axis_is_written": [
            ("a number is nothing", "if type(answer) is int:", "if False:")
        ],
        "test_the_place_to_look_at": [
            (
                "few for many",
                "if len(shape) < len(right) else 'many'",
                "if len(shape) > len(right) else 'many'",
            ),
        ],
        "test_what_is_no_shape_is_told_so": [
            ("any sizes are sizes", "if all(type(size) is int for size in answer) else None", ""),
        ],
        "test_what_is_not_said_yet_is_neither_right_nor_wrong": [
            (
                "passed half said",
                'passed = set(marks.values()) == {"✓"}',
                'passed = "✗" not in marks.values()',
            ),
        ],
        "test_a_changed_question_is_told_so": [
            ("questions may change", "if not same_questions:", "if False:")
        ],
    },
    "bookkit/checking/wording": {
        "test_rounding_noise_does_not_show": [
            ("ties show noise", "float(f'{numbers:.6g}')", "numbers"),
            ("tiny numbers shown", "if abs(numbers) < 1e-6", "if abs(numbers) < 0"),
        ],
        "test_an_error_is_told_in_one_line_that_never_changes": [
            ("all its lines", '.partition("\\n")[0]', ""),
            ("addresses shown", '"0x[0-9a-fA-F]+"', '"0x[0-9]+$"'),
        ],
        "test_the_line_that_raised_is_shown_where_it_tells_something": [
            ("a line by chance", "isinstance(error, RecursionError) or not", "not"),
        ],
    },
    "bookkit/checking/mistakes/__init__": {
        f"{MISTAKES}test_a_part_takes_the_place_of_the_right_one": [
            ("no part replaced", "partial(function, **{part: code})", "partial(function)"),
        ],
        f"{MISTAKES}test_results_change_places": [("results in place", "[::-1])}", ")}")],
        f"{MISTAKES}test_some_of_a_family_can_be_left_out": [
            ("unknown names accepted", "if unknown := set(names) - mistakes.keys():", "if unknown := set():"),
        ],
    },
    "bookkit/checking/mistakes/weighing": {
        f"{MISTAKES}test_each_is_wrong_and_unlike_the_others": [
            (
                "a mistake that is right",
                "lambda scores: scores.softmax(-1).softmax(-1)",
                "lambda scores: scores.softmax(-1)",
            ),
        ],
    },
    "bookkit/checking/mistakes/pairs": {
        "bookkit/checking/test_exercise.py::test_two_mistakes_in_different_parts_get_both_their_names": [
            ("the first alone", "**first.keywords, **second.keywords", "**first.keywords"),
            ("parts of one place", "not first.keywords.keys() & second.keywords.keys()", "True"),
        ],
    },
    "bookkit/checking/modules": {
        "test_held_is_everything_and_plain_what_no_drawer_holds": [
            ("the outermost module alone", "for module in model.modules()", "for module in [model]"),
            ("no buffers", "*model.buffers(), ", ""),
        ],
        "test_a_gradient_comes_back_from_the_sum": [
            ("written into the inputs", "inputs = inputs.clone()", "inputs = inputs"),
        ],
        "test_a_model_is_trained_by_every_batch_and_then_in_use": [
            ("the first batch alone", "for batch in batches:", "for batch in batches[:1]:"),
        ],
        "test_histories_are_found_in_drawers_and_out_of_them": [
            ("nothing to trace back to", "batches.clone().requires_grad_()", "batches"),
        ],
    },
}
