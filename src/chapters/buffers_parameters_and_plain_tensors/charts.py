"""The chart of what each operation on a model reaches."""

import altair as alt

from bookkit.pictures.charts import choice, readout

KINDS = ("parameter", "frozen", "buffer", "unsaved", "plain")

# For each operation its question, and the kinds of which the answer is yes. The chapter measures each answer.
_YES = {
    "state_dict()": ("Is it in there?", KINDS[:3]),
    ".to(device)": ("Is it on the other device now?", KINDS[:4]),
    ".double()": ("Is it float64 now?", KINDS[:4]),
    "optimizer.step()": ("Has it been changed?", KINDS[:1]),
    "requires_grad_(True)": ("Does a step change it?", KINDS[:2]),
    "loads at another length": ("Does the model load?", KINDS[3:]),
    "copy.deepcopy(model)": ("Has the copy one of its own?", KINDS),
    "torch.save(model)": ("Is it in the file?", KINDS),
}
FOLLOWS = {operation: {kind: kind in yes for kind in KINDS} for operation, (_, yes) in _YES.items()}
DESCRIPTION = (
    "A table of eight operations and five ways to hold a tensor: a parameter, a frozen parameter, a "
    "buffer, a buffer that is not saved, a plain tensor. A mark in each cell says whether the answer is "
    "yes; a choice brings one row forward. Moving and converting reach all but the plain tensor. The "
    "state_dict holds the first three, and with any of those three a model refuses the state of another "
    "length. An optimizer changes the parameter alone, and after requires_grad_(True) the frozen one as "
    "well. A copy or a file of the whole model has all five."
)


def who_follows() -> alt.TopLevelMixin:
    """`who_follows()` shows, for one operation at a time, which ways of holding a tensor it reaches."""
    chosen = choice("operation", "do this to the model", list(FOLLOWS), value=".to(device)")
    chosen_row = _marks(opacity=1).transform_filter("datum.operation == operation")
    # For the test: what is left when the others are out.
    chosen_row = chosen_row.transform_calculate(reached="datum.yes")
    return (
        alt.layer(_marks(opacity=0.3), chosen_row, readout(_summary(), "left", y=0))
        .add_params(chosen)
        .properties(width=480, height=330, description=DESCRIPTION)
    )


def _marks(opacity: float) -> alt.Chart:
    rows = [
        {"operation": operation, "kind": kind, "answer": "yes" if yes else "no", "yes": int(yes)}
        for operation, kinds in FOLLOWS.items()
        for kind, yes in kinds.items()
    ]
    answers = {"yes": "circle", "no": "cross"}
    shapes = alt.Scale(domain=list(answers), range=list(answers.values()))
    return (
        alt.Chart(alt.InlineData(rows))
        .mark_point(filled=True, size=180, opacity=opacity)
        .encode(
            x=alt.X(
                "kind:N",
                title=None,
                scale=alt.Scale(domain=list(KINDS)),
                axis=alt.Axis(labelAngle=0, ticks=False, domain=False),
            ),
            y=alt.Y(
                "operation:N",
                title=None,
                # The marks begin below the three lines of the readout.
                scale=alt.Scale(domain=list(FOLLOWS), range=[70, 330]),
                axis=alt.Axis(grid=True, domain=False, ticks=False),
            ),
            color=alt.Color("answer:N", legend=None, scale=alt.Scale(domain=list(answers))),
            shape=alt.Shape("answer:N", legend=None, scale=shapes),
        )
    )


def _summary() -> alt.Chart:
    said = [
        {
            "operation": operation,
            "readout": [
                f"{operation}: {question}",
                "yes: " + _listed([kind for kind in KINDS if FOLLOWS[operation][kind]]),
                "no: " + _listed([kind for kind in KINDS if not FOLLOWS[operation][kind]]),
            ],
        }
        for operation, (question, _) in _YES.items()
    ]
    return alt.Chart(alt.InlineData(said)).transform_filter("datum.operation == operation")


def _listed(kinds: list[str]) -> str:
    """`_listed(["buffer", "plain"])` is 'buffer, plain'."""
    return {0: "none", len(KINDS): "all five"}.get(len(kinds), ", ".join(kinds))
