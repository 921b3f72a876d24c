"""The chart: eight trainings without their names, each beside the healthy one."""

import altair as alt

from bookkit.pictures.charts import choice, readout
from chapters.fourteen_patients.patients import EVERY_TRAINING, EVERY_VALIDATION, UPDATES, curves

# By letter; one of them has a fault that no training shows.
LETTERS = {
    "A": "shuffled",
    "B": "global seed",
    "C": "off by one",
    "D": "large start",
    "E": "places begin again",
    "F": "wrong axis",
    "G": "ten times, unclipped",
    "H": "in a list",
}
HIGHEST = 5.0  # nats: what begins higher comes in from above
DESCRIPTION = (
    "Losses over 300 updates, of training as a line and of validation as dots, for one of eight patients "
    "chosen by its letter, and for the healthy training. {told}"
)


def unnamed() -> alt.TopLevelMixin:
    """`unnamed()` has a letter for each of eight patients; choosing one shows its losses."""
    letter = choice("letter", "patient", list(LETTERS), value="A")
    rows = [row for name in LETTERS for row in _curves_of(name, LETTERS[name])]
    rows += _curves_of("healthy", "healthy")
    drawn = (
        alt.Chart(alt.InlineData(rows))
        .transform_filter("datum.letter == letter || datum.letter == 'healthy'")
        .transform_flatten(["update", "loss"])
        .transform_calculate(who="datum.letter == 'healthy' ? 'healthy' : 'patient'")
    )
    across = alt.X("update:Q", title="updates", scale=alt.Scale(domain=[0, UPDATES], nice=False))
    down = alt.Y("loss:Q", title="nats a letter", scale=alt.Scale(domain=[0, HIGHEST], nice=False))
    colour = alt.Color(
        "who:N", title=None, scale=alt.Scale(domain=["healthy", "patient"]),
        legend=alt.Legend(orient="bottom"),
    )  # fmt: skip
    lines = drawn.transform_filter("datum.kind == 'training'").mark_line(strokeWidth=2, clip=True)
    dots = drawn.transform_filter("datum.kind == 'validation'").mark_point(
        filled=True, size=34, opacity=1, clip=True
    )
    encoded = [layer.encode(x=across, y=down, color=colour) for layer in (lines, dots)]
    told = " ".join(
        f"{name}: training ends at {_ends(of_letter)[0]:.2f}, validation at {_ends(of_letter)[1]:.2f}."
        for name, of_letter in {**LETTERS, "Healthy": "healthy"}.items()
    )
    return (
        alt.layer(*encoded, readout(_read_out(), "right", y=0))
        .add_params(letter)
        .properties(width=480, height=240, description=DESCRIPTION.format(told=told))
    )


def _read_out() -> alt.Chart:
    """`_read_out()` is the one row that says where the chosen patient's losses end, and the healthy ones."""
    rows = [{"letter": letter, "said": _said(f"patient {letter}", name)} for letter, name in LETTERS.items()]
    return (
        alt.Chart(alt.InlineData(rows))
        .transform_filter("datum.letter == letter")
        .transform_calculate(readout=f"[datum.said, '{_said('healthy', 'healthy')}']")
    )


def _said(who: str, name: str) -> str:
    """`_said("patient A", "shuffled")` is where that patient's losses end."""
    training, validation = _ends(name)
    return f"{who} ends at {training:.1f}, validation {validation:.1f}"


def _curves_of(letter: str, name: str) -> list[dict[str, list[float] | str]]:
    """`_curves_of("A", "shuffled")` are a patient's two curves, means over three seeds."""
    each = curves(name)
    kinds = {"training": (each.training, EVERY_TRAINING), "validation": (each.validation, EVERY_VALIDATION)}
    return [
        {
            "letter": letter,
            "kind": kind,
            "update": [every * place for place in range(1, rows.shape[1] + 1)],
            "loss": [round(loss, 2) for loss in rows.mean(0).tolist()],
        }
        for kind, (rows, every) in kinds.items()
    ]


def _ends(name: str) -> tuple[float, float]:
    """`_ends("healthy")` are the training and validation loss at the end."""
    each = curves(name)
    return each.last_training().mean().item(), each.last().mean().item()
