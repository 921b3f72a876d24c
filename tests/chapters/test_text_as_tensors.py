"""“Text as tensors”: what only its exercises say, and its chart."""

import pytest
import torch
from exercise_cases import assert_right_shapes, of, telling
from living_charts import numbers, says
from playwright.sync_api import Locator
from torchtext import data

from chapters.text_as_tensors.charts import FAMOUS_LENGTHS
from chapters.text_as_tensors.exercises import check_batch_shapes, check_cut


def by_opinions(words):
    """It looks at which words are opinions, and takes the rest from the front."""
    first = ((words >= 2) & (words < 22)).int().argsort(descending=True, stable=True)
    return words[first[:12].sort().values]


test_who_cuts_is_told = telling(
    *of(
        check_cut,
        # The words are numbered anew in each review, so there is nothing to look at.
        (by_opinions, "Choose by a word's place alone"),
        # Before: its numbers were written out, until no memory was left.
        (
            lambda words: words[:1, None].expand(1_000_000, 1_000_000),
            "of shape (1000000, 1000000): far too many numbers",
        ),
        # The reader never had the reviews by another name.
        (lambda words: words[:1], "reviews = 376 reviews of 3 to 12 words"),
        marks=pytest.mark.thorough,
    )
)


def test_the_shapes_are_what_torchtext_and_pytorch_say():
    def batches_of(field):
        example = data.Example.fromlist([["word"] * 2003], [("text", field)])
        dataset = data.Dataset([example], [("text", field)])
        field.build_vocab(dataset)
        return list(data.BPTTIterator(dataset, batch_size=8, bptt_len=35))

    batches = batches_of(data.Field())
    rows = 1 + sum(len(batch.text) for batch in batches)
    embedding = torch.nn.Embedding(5000, 16)
    names = {
        "columns": torch.empty(rows, 8),
        "batches": batches,
        "first": batches[0],
        "batch_first": batches_of(data.Field(batch_first=True))[0],
        "embedding": embedding,
        "model": torch.nn.Sequential(embedding, torch.nn.Linear(16, 5000)),
    }
    assert_right_shapes(check_batch_shapes, names)


# --- the chart ---


@pytest.mark.thorough
def test_the_shares_and_the_bars_are_torchtexts(chart: Locator) -> None:
    reviews = [list(range(1, tokens + 1)) for tokens in FAMOUS_LENGTHS]
    for pad in ("front", "back"):
        chart.get_by_label(f"pad the {pad}", exact=True).check()
        for cut in ("front", "back"):
            chart.get_by_label(f"cut the {cut}", exact=True).check()
            for row in (20, 120, 220, 320, 420, 500, 520):
                chart.get_by_role("slider").fill(str(row))
                field = data.Field(
                    use_vocab=False, batch_first=True, fix_length=row, pad_token=0,
                    pad_first=pad == "front", truncate_first=cut == "front",
                )  # fmt: skip
                array = field.process(reviews)  # (10, row)
                padding = (array == 0).double().mean().item()
                lost = 1 - (array != 0).sum().item() / sum(FAMOUS_LENGTHS)
                said = says(chart, f"array of 10 × {row}, tokens lost {100 * lost:.1f} %, ")
                assert f"padding {100 * padding:.1f} %" in said
                shares = torch.cat(numbers(chart, "padding_share", "lost_share")).tolist()
                assert shares == pytest.approx([padding, lost], rel=0, abs=1e-6)
                drawn = bars(chart)
                assert drawn["kept"] == [places(line != 0) for line in array]
                assert drawn["padding"] == [places(line == 0) for line in array]
                assert all(
                    (end <= 0) == (cut == "front") and (start >= row) == (cut == "back")
                    for start, end in drawn["cut off"]
                    if start != end
                )


def places(chosen) -> tuple[int, int]:
    """From where to where a row holds what was chosen; (0, 0) where it holds none."""
    found = chosen.nonzero().flatten().tolist()
    return (found[0], found[-1] + 1) if found else (0, 0)


def bars(chart: Locator) -> dict[str, list[tuple[int, int]]]:
    """Where the bars of each part start and end, review by review; (0, 0) for those of no length."""
    script = """(chart) => JSON.parse(chart.querySelector("script").textContent).data
        .map(({ name }) => chart.view.data(name))
        .find((rows) => rows[0] && rows[0].start !== undefined)
        .map((row) => [row.review, row.part, row.start, row.end])"""
    found: dict[str, list[tuple[int, int]]] = {}
    for _, part, start, end in sorted(chart.evaluate(script)):
        found.setdefault(part, []).append((0, 0) if start == end else (start, end))
    return found
