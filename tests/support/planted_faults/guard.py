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
}
