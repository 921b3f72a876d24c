"""The exercise `first_nan`, tried as readers would."""

import contextlib

import pytest
import torch
from exercise_cases import judged_as, named, words
from torch import nn
from torch.nn.modules.module import register_module_forward_hook

from chapters.fourteen_patients.exercises import check_first_nan


def nan_in(value):
    if isinstance(value, torch.Tensor):
        return value.isnan().any().item()
    return any(nan_in(part) for part in value)


def with_an_exit_stack(model, batch):
    found = []
    with contextlib.ExitStack() as stack:
        for name, module in model.named_modules():

            def hook(module, inputs, output, name=name):
                if not found and nan_in(output) and not nan_in(inputs):
                    found.append(name)

            stack.callback(module.register_forward_hook(hook).remove)
        model(batch)
    return next(iter(found), None)


def with_one_hook_for_all(model, batch):
    names = {module: name for name, module in model.named_modules()}
    first = None

    def hook(module, inputs, output):
        nonlocal first
        if first is None and module in names and nan_in(output) and not nan_in(inputs):
            first = names[module]

    handle = register_module_forward_hook(hook)
    try:
        with torch.inference_mode():
            model(batch)
    finally:
        handle.remove()
    return first


class Found(Exception):  # noqa: N818
    """Raised as soon as there is something to tell."""


def by_an_exception(model, batch):
    def watch(name):
        def hook(module, inputs, output):
            if nan_in(output) and not nan_in(inputs):
                raise Found(name)

        return hook

    handles = [module.register_forward_hook(watch(name)) for name, module in model.named_modules()]
    try:
        model(batch)
    except Found as found:
        return found.args[0]
    finally:
        for handle in handles:
            handle.remove()
    return None


def searching(watched=lambda model: model.named_modules(), arises=None, finish=None, answer=None):
    """A reader's function in which one step may be another."""
    arises = arises or (lambda inputs, output: nan_in(output) and not nan_in(inputs))
    answer = answer or (lambda found, model: found[0] if found else None)

    def code(model, batch):
        found, handles = [], []
        for name, module in watched(model):

            def hook(module, inputs, output, name=name):
                if arises(inputs, output):
                    found.append(name)

            handles.append(module.register_forward_hook(hook))
        if finish:
            finish(model, batch, handles)
        else:
            try:
                model(batch)
            finally:
                for handle in handles:
                    handle.remove()
        return answer(found, model)

    return code


def leaves(model):
    return [(name, module) for name, module in model.named_modules() if not list(module.children())]


def removed_afterwards(model, batch, handles):
    model(batch)
    for handle in handles:
        handle.remove()


def all_caught(model, batch, handles):
    with contextlib.suppress(Exception):
        model(batch)
    for handle in handles:
        handle.remove()


def finite(value):
    if isinstance(value, torch.Tensor):
        return value.isfinite().all().item()
    return all(map(finite, value))


def first_of(value):
    return nan_in(value if isinstance(value, torch.Tensor) else value[0])


def as_it_is_above(model, batch):
    """The chapter's own."""
    found = []

    def look(name, module, inputs, output):
        if output.isnan().any() and not inputs[0].isnan().any():
            found.append(name)

    for name, module in model.named_modules():
        module.register_forward_hook(lambda *args, name=name: look(name, *args))
    model(batch)
    return found[0] if found else "none"


def global_hook_left(model, batch):
    register_module_forward_hook(lambda module, inputs, output: None)
    return with_an_exit_stack(model, batch)


RIGHT = {
    check_first_nan: {
        **named(with_an_exit_stack, with_one_hook_for_all, by_an_exception),
        "by hand": searching(),
    }
}
NAMED = {
    check_first_nan: {
        "hooks stay": searching(finish=lambda model, batch, handles: model(batch)),
        "hooks stay after an error": searching(finish=removed_afterwards),
        "error swallowed": searching(finish=all_caught),
        "given away": searching(leaves, arises=lambda inputs, output: nan_in(output)),
        "inf, too": searching(arises=lambda inputs, output: finite(inputs) and not finite(output)),
        "only one result": searching(arises=lambda inputs, output: first_of(output) and not first_of(inputs)),
        "only the outermost": searching(lambda model: model.named_children()),
        "only the innermost": searching(leaves),
        "not the model itself": searching(lambda model: list(model.named_modules())[1:]),
        "the last": searching(answer=lambda found, model: found[-1] if found else None),
        "empty where none is": searching(answer=lambda found, model: found[0] if found else ""),
        "its class": searching(
            answer=lambda found, model: type(model.get_submodule(found[0])).__name__ if found else None
        ),
        "without its place": searching(
            answer=lambda found, model: found[0].split(".")[-1] if found else None
        ),
        "in the order of the list": searching(
            leaves,
            arises=lambda inputs, output: nan_in(output),
            answer=lambda found, model: min(
                found, key=[name for name, _ in leaves(model)].index, default=None
            ),
        ),
        "as it is above": as_it_is_above,
        "a word for none": searching(answer=lambda found, model: (found or ["None"])[0]),
        "never any": lambda model, batch: print(model(batch)),
    }
}
UNKNOWN = {
    check_first_nan: {
        "always the first": lambda model, batch: next(model.named_children())[0],
        "a number": lambda model, batch: 0,
        "the layer itself": lambda model, batch: model,
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


def test_whoever_returns_the_layer_is_told_to_name_it():
    assert "Return its name" in words(check_first_nan.judge(lambda model, batch: model))


def test_whoever_leaves_a_hook_on_all_modules_of_the_world_is_told():
    assert check_first_nan.judge(global_hook_left).mistake == "hooks stay"


def test_a_hook_on_all_modules_does_not_outlive_the_check():
    calls = []

    def code(model, batch):
        register_module_forward_hook(lambda *_: calls.append(1))

    check_first_nan.judge(code)
    calls.clear()
    nn.Identity()(torch.ones(1))
    assert not calls


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (lambda model, batch: 1 / 0, "ZeroDivisionError"),
        (lambda model, batch: 7, "It returns int, where a name or None is expected."),
    ],
)
def test_what_goes_wrong_is_told(work, said):
    assert said in words(check_first_nan.judge(work))
