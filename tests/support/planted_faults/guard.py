"""Faults planted in what runs code that nobody has read."""

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
        "test_what_is_stopped_is_not_blamed_for_what_it_could_not_put_back": [
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
        "test_what_never_ends_is_stopped": [
            ("never an alarm", "signal.setitimer(signal.ITIMER_REAL, until.left, RING_AGAIN)", "(0, 0)"),
        ],
        "test_several_actions_share_one_deadline": [
            (
                "a deadline for each action",
                "(signal.ITIMER_REAL, until.left",
                "(signal.ITIMER_REAL, TIME_LIMIT",
            ),
            (
                "no alarm where no time is left",
                "max(self.started + self.seconds - time.monotonic(), 1e-3)",
                "max(self.started + self.seconds - time.monotonic(), 0)",
            ),
        ],
        "test_on_a_busy_machine_work_may_take_longer_but_not_for_ever": [
            ("the clock alone", "if not WAITING < share < SERVED or", "if True or"),
            ("for ever", " or now - self.started > LONGEST * self.seconds", ""),
        ],
        "test_a_sleep_is_stopped_however_busy_the_machine_is": [
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
        ],
        "test_printing_and_warning_are_kept_off_the_page": [
            ("errors printed", "contextlib.redirect_stderr(muted)", "contextlib.nullcontext()"),
            ("printing unnoticed", "self.used = True", "pass"),
        ],
    },
}
