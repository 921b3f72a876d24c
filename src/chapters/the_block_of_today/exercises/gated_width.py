"""Find the width at which a SwiGLU has as many weights as a ReLU network."""

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Part, in_parts


def _up(width: int, over: int, multiple: int) -> int:
    """The first multiple that is no less than width / over."""
    return -(-width // (over * multiple)) * multiple


def _gated_width(
    hidden: int,
    multiple: int,
    *,
    share: Part = lambda hidden: (2 * hidden, 3),
    rounded: Part = _up,
) -> int:
    width: int = rounded(*share(hidden), multiple)
    return width


check_gated_width = Exercise(
    "gated_width",
    difficulty=1,
    minutes=10,
    takes=("hidden", "multiple"),
    returns=("width",),
    reference=_gated_width,
    cases=(
        Case("right for our own block", 384, 1),
        Case("right for Llama's first, of 7 billion weights", 16384, 256),
        Case("right where nothing is to be rounded", 3072, 64),
        Case("right where the nearest multiple is below", 1000, 64),
        Case("right for a small network", 30, 16),
    ),
    mistakes=in_parts(
        _gated_width,
        rounded={
            "rounded down": (
                "You round down to a multiple. Asked for is the next one up, so that nothing is lost.",
                lambda width, over, multiple: width // (over * multiple) * multiple,
            ),
            "the nearest multiple": (
                "You take the nearest multiple. Asked for is the next one up.",
                lambda width, over, multiple: round(width / (over * multiple)) * multiple,
            ),
            "always one more": (
                "Where two thirds are a multiple already, yours is one too many: `// multiple + 1` goes up "
                "even then.",
                lambda width, over, multiple: (width // (over * multiple) + 1) * multiple,
            ),
            "not rounded to a multiple": (
                "This is no multiple of `multiple`. Round up to the next one.",
                lambda width, over, multiple: -(-width // over),
            ),
            "how many multiples": (
                "You return how often `multiple` fits. Multiply by it again.",
                lambda width, over, multiple: -(-width // (over * multiple)),
            ),
        },
        share={
            "as wide as before": (
                "The width has stayed. Three matrices in place of two then have half as many weights again.",
                lambda hidden: (hidden, 1),
            ),
            "half as wide": (
                "You make it half as wide. Three matrices of that have three quarters of the weights: solve "
                "3 · width = 2 · hidden.",
                lambda hidden: (hidden, 2),
            ),
            "three halves": (
                "You make it wider, by a half. It has more matrices, so each must be smaller: 3 · width = "
                "2 · hidden.",
                lambda hidden: (3 * hidden, 2),
            ),
            "a third as wide": (
                "You make it a third as wide. The weights of *two* matrices are shared out among three: "
                "3 · width = 2 · hidden.",
                lambda hidden: (hidden, 3),
            ),
            "hidden taken for the stream": (
                "You take `hidden` for the width of the stream, and multiply by 4 first. It is that of the "
                "ReLU network already.",
                lambda hidden: (8 * hidden, 3),
            ),
            "weights counted": (
                "You count the gate as a third matrix in the old network, and take its width three quarters. "
                "It has two matrices: 3 · width = 2 · hidden.",
                lambda hidden: (3 * hidden, 4),
            ),
        },
    ),
)
