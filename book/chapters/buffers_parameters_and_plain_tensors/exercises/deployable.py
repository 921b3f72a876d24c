"""An experiment: make a model fit for use, with each tensor in its place."""

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from bookkit.checking.modules import asking
from chapters.buffers_parameters_and_plain_tensors.exercises.deployable_mistakes import MISTAKES
from chapters.buffers_parameters_and_plain_tensors.exercises.deployable_parts import _Smoother

_LIVE = "trained(MyModule(3, 4), batches)"


check_deployable = Exercise(
    "deployable",
    difficulty=4,
    minutes=30,
    takes=("batches", "words", "asked"),
    returns=("answer",),
    reference=_Smoother,
    ask=asking("batches", "words"),
    cases=(
        Case("the same numbers", *draw(7, (2, 4, 3), (4, 3)), "MyModule(3, 4)(words)"),
        *(
            Case(label, *draw(8, (3, 4, 3), (4, 3)), asked)
            for label, asked in {
                "the same numbers after training": f"{_LIVE}(words)",
                "moves": f"{_LIVE}.to('meta')(words.to('meta')).numel()",
                "is halved": f"{_LIVE}.half()(words.half()).element_size()",
                "an optimizer has the scale alone": f"sum(p.numel() for p in {_LIVE}.parameters())",
                "the scale wants a gradient": f"sum(p.requires_grad for p in {_LIVE}.parameters())",
                "the file has scale and mean": f"sum(t.numel() for t in {_LIVE}.state_dict().values())",
                "loads": f"reloaded(MyModule(3, 4), {_LIVE})(words)",
                "no larger file when longer": "sum(t.numel() for t in MyModule(3, 9).state_dict().values())",
                "keeps no history": "histories(MyModule(3, 4), batches)",
            }.items()
        ),
    ),
    trainable=False,  # the cases ask for what they need
    mistakes=MISTAKES,
)
