"""Faults planted in what runs code that nobody has read."""

from planted_faults.checkup import WHOLE
from planted_faults.kinds import Faults

FAULTS: Faults = {
    "bookkit/checking/guard": {
        "test_a_changed_setting_is_reported_and_put_back": [
            ("nothing put back", "restore(before[name])", "pass"),
            ("nothing reported", "touched.append(name)", "pass"),
            (
                "anomaly mode half read",
                "(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()),",
                "(False, torch.is_anomaly_check_nan_enabled()),",
            ),
        ],
        "test_modules_are_noticed_and_what_they_drew_is_told_all_the_same": [
            ("a seed unseen", " and torch.initial_seed() == seed", ""),
        ],
        "test_what_never_ends_is_stopped_and_not_blamed_for_what_it_could_not_put_back": [
            ("blamed all the same", "if isinstance(error, TimeUpError):", "if False:"),
        ],
        "test_tensors_get_their_methods_back": [
            ("what tensors were given stays", "delattr(Tensor, name)", "pass"),
            ("what tensors had is lost", "setattr(Tensor, name, method)", "pass"),
            (
                "missed for its order",
                "self.methods.keys() == other.methods.keys()",
                "[*self.methods] == [*other.methods]",
            ),
        ],
        "test_who_saves_a_tensor_replaces_nothing": [
            ("who saves accused", ' if name != "__slotnames__"', ""),
        ],
        "test_the_environment_is_put_back_whole": [
            ("variables stay away", "os.environ.update(environment)", "pass")
        ],
        "test_what_pytorch_sets_for_its_compiler_is_nobodys_doing": [
            ("the compiler accused", 'if not name.startswith("TORCHINDUCTOR_")', "if name"),
        ],
        "test_several_actions_share_a_deadline_or_have_each_their_own": [
            ("a deadline for each action", "until or Deadline(TIME_LIMIT)", "Deadline(TIME_LIMIT)"),
        ],
        "test_printing_and_warning_are_kept_off_the_page": [
            ("errors printed", "contextlib.redirect_stderr(muted)", "contextlib.nullcontext()"),
            ("printing unnoticed", "self.used = True", "pass"),
        ],
    },
    "attnlab/time_limit": {
        "test_what_never_ends_is_stopped": [
            ("raised once and swallowed", "frame.f_trace = at_each_line", "pass"),
            ("a late answer taken", "raise time_up  # it", "pass  # it"),
            ("retried for ever", "class TimeUpError(BaseException)", "class TimeUpError(Exception)"),
        ],
        f"{WHOLE}::test_when_time_is_up_the_model_is_as_it_was_and_what_is_left_is_told": [
            ("our own clearing up cut short", "in TRUSTED", "in set()"),
        ],
        "test_a_real_alarm_interrupts[sleep]": [
            ("never an alarm", "signal.setitimer(signal.ITIMER_REAL, until.left, RING_AGAIN)", "(0, 0)"),
        ],
        "test_what_is_stopped_clears_up_behind_itself_though_the_alarm_rings_again": [
            ("no time to clear up", "monotonic() < raised_at + TIDYING or", "False or"),
        ],
        "test_what_python_deletes_just_then_is_deleted_whole": [
            ("lost with an alarm", "TIDYING or _is_deleting(frame, until.passed_at)", "TIDYING"),
            ("lost without", "until.passed() and not _is_deleting(frame, until.passed_at)", "until.passed()"),
        ],
        "test_several_actions_share_one_deadline": [
            ("no alarm where no time is left", "seconds - monotonic(), 1e-3)", "seconds - monotonic(), 0)"),
        ],
        "test_the_alarm_is_set_to_what_is_left": [
            ("the whole time again", "(signal.ITIMER_REAL, until.left", "(signal.ITIMER_REAL, until.seconds"),
        ],
        "test_who_has_hardly_had_the_processor_may_go_on": [
            ("the clock alone", "if not WAITING < share < SERVED or", "if True or"),
            ("for ever", " or now - self.started > LONGEST * self.seconds", ""),
            ("a sleep is taken for work", "not WAITING < share", "not -1 < share"),
        ],
        "test_a_loop_is_stopped_where_there_are_no_alarms": [
            ("no clock without alarms", '"line" and until.passed()', '"line" and False'),
            (
                "the trace left behind",
                "            sys.settrace(trace_before)\n    handler_before",
                "            pass\n    handler_before",
            ),
        ],
        "test_an_alarm_of_someone_else_still_rings": [
            ("another's alarm lost", "signal.setitimer(signal.ITIMER_REAL, *timer_before)", "pass"),
            ("another's handler lost", "signal.signal(signal.SIGALRM, handler_before)", "pass"),
        ],
    },
}
