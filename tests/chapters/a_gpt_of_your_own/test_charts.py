"""The chart of “A GPT of your own” cuts lines as Pieces do, by the first so many merges."""

import re

import pytest
import vl_convert

from attnlab.corpora.pieces import Pieces
from chapters.a_gpt_of_your_own import charts, models

SHOWN = re.compile(r">([\d,]+) merges: (\d+) pieces for (\d+) letters<")


@pytest.mark.parametrize("given", charts.LINES)
@pytest.mark.parametrize("doublings", [0, 1, 5, 8, 11])
def test_it_has_as_many_pieces_as_so_many_merges_leave(given, doublings):
    spec = charts.fewer_pieces().to_dict()
    for control in spec["params"]:
        control["value"] = {"given": given, "doublings": doublings}.get(control["name"], control["value"])
    merges, shown, letters = SHOWN.search(vl_convert.vegalite_to_svg(spec)).groups()
    made = int(merges.replace(",", ""))
    line, all_merges = charts.LINES[given], models.pieces().merges
    assert made == (min(int(2**doublings), len(all_merges)) if doublings else 0)
    assert int(shown) == len(Pieces(all_merges[:made]).encode(line))
    assert int(letters) == len(line) == len(line.encode())


def test_its_description_says_how_far_the_merges_go():
    pieces = {given: len(models.pieces().encode(line)) for given, line in charts.LINES.items()}
    said = charts.DESCRIPTION
    for given in ("English", "code"):
        assert re.search(rf"\b{pieces[given]} (pieces )?for {len(charts.LINES[given])}\b", said)
    assert said.endswith(f"{pieces['Lingo']} for {len(charts.LINES['Lingo'])}.")
