"""Planted faults in what examines models."""

from planted_faults.kinds import Faults

FAULTY = "attnlab/checkup/test_faults.py"
FOUND = f"{FAULTY}::test_a_fault_is_found_and_named"
SOUND = f"{FAULTY}::test_without_a_fault_nothing_is_found"
WHOLE = "attnlab/checkup/test_checkup.py"
KEPT = "attnlab/checkup/test_untouched.py"

FAULTS: Faults = {
    "attnlab/checkup/patient": {
        f"{FAULTY}::test_who_sees_whom_is_kept_for_the_picture": [
            ("a picture on its side", "return torch.stack(rows, dim=1)", "return torch.stack(rows, dim=0)"),
        ],
        f"{WHOLE}::test_time_is_up_outside_the_main_thread_too": [
            ("time is never up", "if self.until.passed():", "if False:"),
        ],
    },
    "attnlab/checkup/trace": {
        f"{FOUND}[sees the next]": [
            (
                "the layer around is named for the part",
                "and not _any(differs, visit.inputs, twin.inputs):",
                "and _any(differs, visit.inputs, twin.inputs):",
            ),
        ],
    },
    "attnlab/checkup/untouched": {
        f"{KEPT}::test_a_model_that_is_called_itself_is_as_it_was": [
            ("weights that stay changed", "tensor.copy_(before)", "pass"),
        ],
        f"{KEPT}::test_what_an_error_leaves_is_put_back": [
            ("gradients that stay changed", "in held + gradients:", "in held:"),
            ("modes that stay changed", "vars(module).update(attributes)", "pass"),
            ("PyTorch's chance goes on elsewhere", 'torch.set_rng_state(chance["torch"])', "pass"),
            ("layers that stay changed", "drawer.update(contents)", "pass"),
            (
                "gradients that stay off",
                "        torch.set_grad_enabled(enabled)\n",
                "",
            ),
            (
                "a fast path that stays off",
                "        torch.backends.mha.set_fastpath_enabled(fast)\n",
                "",
            ),
        ],
        f"{KEPT}::test_chance_goes_on_as_if_nothing_had_been_tried": [
            ("Python's chance goes on elsewhere", 'random.setstate(chance["python"])', "pass"),
            ("NumPy's chance goes on elsewhere", 'np.random.set_state(chance["numpy"])', "pass"),
        ],
    },
    "attnlab/checkup/visit": {
        f"{KEPT}::test_a_model_without_shapes_is_refused_and_stays_without": [
            (
                "shapes are taken for granted",
                "if isinstance(weight, nn.parameter.UninitializedParameter):",
                "if False:",
            ),
        ],
        f"{WHOLE}::test_bad_input_is_told_in_one_line": [
            ("two devices taken", "if len(devices) > 1:", "if len(devices) > 2:"),
            ("no weights taken", "if not weights:", "if False:"),
            ("an error of many lines", '(str(error).splitlines() or [""])[0][:200]', "str(error)"),
            ("an empty batch taken", "if any(not part.numel() for part in parts):", "if False:"),
        ],
        f"{WHOLE}::test_when_time_is_up_the_model_is_as_it_was_and_what_is_left_is_told": [
            ("what was not tried is not said", "time was up: {names}", "time was up: {len(left)}"),
        ],
        f"{WHOLE}::test_assert_healthy_tells_what_it_found": [
            ("no error", "    if report.findings:\n        told", "    if not report.tried:\n        told"),
        ],
    },
    "attnlab/checkup/report": {
        f"{WHOLE}::test_the_words_of_a_report": [
            ("lines that are too long", "COLUMNS = 100", "COLUMNS = 120"),
        ],
        f"{WHOLE}::test_the_pictures_are_escaped_and_take_the_page_s_colour": [
            (
                "a name that is markup",
                "<li><code>{escape(one.where or WHOLE)}</code>",
                "<li><code>{one.where or WHOLE}</code>",
            ),
        ],
    },
    "attnlab/checkup/looks": {
        SOUND: [
            ("a divisor that is not followed", "else factor / other if other", "else factor if other"),
        ],
        f"{FOUND}[masked late]": [
            ("sums that are never taken", "if look.sums is None:", "if look.sums is not None:"),
        ],
    },
    "attnlab/checkup/inside/gradients": {
        f"{FOUND}[norm unused]": [
            ("a weight without a gradient let pass", "and (sizes[name] == 0 or", "and ("),
        ],
    },
    "attnlab/checkup/inside/start": {
        f"{WHOLE}::test_a_right_loss": [
            (
                "a mean over other ids",
                "counted = logits[:, :-1], ids[:, 1:]",
                "counted = logits[:, 1:], ids[:, 1:]",
            ),
        ],
        f"{FOUND}[large]": [
            ("a first loss of any size", "loss > wanted + max(1.5, 0.5 * wanted)", "loss > 100 * wanted"),
        ],
    },
    "attnlab/checkup/inside/norms": {
        f"{FOUND}[norm not cast back]": [
            ("another precision let pass", "if small.dtype == torch.float32:", "if False:"),
        ],
        f"{FOUND}[norm in half]": [
            ("no large numbers in half precision", "(1000 * _unit(entered)).half()", "_unit(entered).half()"),
        ],
    },
    "attnlab/checkup/outside/order": {
        f"{FOUND}[no places]": [
            ("a table without effect let pass", "if table is not None:", "if False:"),
        ],
    },
    "attnlab/checkup/outside/output": {
        f"{FOUND}[probabilities]": [
            (
                "probabilities taken for logits",
                'and bool(((sums - 1).abs() < 1e-4).all()):\n        return "they are p',
                'and False:\n        return "they are p',
            ),
        ],
    },
}
