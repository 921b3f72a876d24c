"""What attention says of input that can't work."""

import pytest
import torch

from attnlab.attention import MultiHeadAttention, attend
from attnlab.masks import for_heads, padding
from attnlab.scores import dot


class TestErrors:
    QUERY, KEY, VALUE = torch.ones(2, 4, 3), torch.ones(2, 5, 3), torch.ones(2, 5, 6)

    @pytest.mark.parametrize("need_weights", [True, False])
    @pytest.mark.parametrize(
        ("changed", "message"),
        [
            ({"query": torch.ones(3)}, r"query must be \(…, length, width\), got \(3,\)"),
            ({"value": torch.ones(6)}, r"value must be \(…, length, width\), got \(6,\)"),
            ({"key": torch.ones(2, 5, 4)}, r"key must be \(…, m, d_k = 3\), got \(2, 5, 4\)"),
            ({"value": torch.ones(2, 4, 6)}, r"value must be \(…, m = 5, d_v\), got \(2, 4, 6\)"),
            (
                {"key": torch.ones(3, 5, 3)},
                r"leading axes .* query \(2, 4, 3\), key \(3, 5, 3\), value \(2, 5, 6\)",
            ),
            ({"value": torch.ones(3, 5, 6)}, r"leading axes must be equal or 1, .* value \(3, 5, 6\)"),
            ({"key": torch.ones(2, 5, 3, device="meta")}, "key must be on cpu, as query is, got meta"),
            ({"dropout": 1.0}, "dropout must be at least 0 and below 1, got 1.0"),
            ({"dropout": -0.1}, "dropout must be at least 0 and below 1, got -0.1"),
            (
                {"mask": torch.ones(2, 1, 5, dtype=torch.bool, device="meta")},
                "mask must be on cpu, as the scores are, got meta",
            ),
        ],
    )
    def test_inputs(self, changed: dict[str, object], message: str, need_weights: bool) -> None:
        arguments = {"query": self.QUERY, "key": self.KEY, "value": self.VALUE} | changed
        with pytest.raises(ValueError, match=message):
            attend(**arguments, need_weights=need_weights)

    @pytest.mark.parametrize("need_weights", [True, False])
    @pytest.mark.parametrize(
        "shape", [(2, 5), (4, 5), (2, 4, 4), (2, 4, 1), (3, 1, 5), (2, 5, 5), (2, 1, 4, 5)]
    )
    def test_mask_shape(self, shape: tuple[int, ...], need_weights: bool) -> None:
        got = str(shape).replace("(", r"\(").replace(")", r"\)")
        with pytest.raises(ValueError, match=rf"mask must be \(2, 4, 5\), or 1 .*, got {got}"):
            attend(
                self.QUERY,
                self.KEY,
                self.VALUE,
                mask=torch.ones(*shape, dtype=torch.bool),
                need_weights=need_weights,
            )

    @pytest.mark.parametrize("need_weights", [True, False])
    def test_mask_type(self, need_weights: bool) -> None:
        with pytest.raises(TypeError, match=r"mask must be boolean, got torch.float32: .* `mask == 0`"):
            attend(self.QUERY, self.KEY, self.VALUE, mask=torch.zeros(2, 4, 5), need_weights=need_weights)

    @pytest.mark.parametrize("need_weights", [True, False])
    def test_batch_time_masks_are_refused_when_all_lengths_agree(self, need_weights: bool) -> None:
        # batch = heads = n = m = 4: PyTorch would take each of these, and hide the wrong things.
        x, words = torch.ones(4, 4, 4, 2), padding(torch.tensor([4, 3, 2, 1]))
        for mask in (words[:, 0], words):  # (batch, time), (batch, 1, time)
            with pytest.raises(ValueError, match="mask must be"):
                attend(x, x, x, mask=mask, need_weights=need_weights)
        with pytest.raises(ValueError, match="mask must be"):
            attend(x[0], x[0], x[0], mask=words[:, 0], need_weights=need_weights)
        attention, x = MultiHeadAttention(8, 4), torch.ones(4, 4, 8)
        for mask in (words[:, 0], for_heads(words)):
            with pytest.raises(ValueError, match=r"mask must be \(batch, n, m\), got"):
                attention(x, mask=mask, need_weights=need_weights)

    def test_score_of_another_shape(self) -> None:
        with pytest.raises(ValueError, match=r"score must give \(…, n, m\) = \(2, 4, 5\), got \(2, 5, 4\)"):
            attend(self.QUERY, self.KEY, self.VALUE, score=lambda query, key: dot(key, query))

    @pytest.mark.parametrize(("d_model", "heads"), [(10, 3), (10, 0), (10, -2), (2, 4)])
    def test_heads_divide_d_model(self, d_model: int, heads: int) -> None:
        with pytest.raises(
            ValueError, match=f"heads must divide d_model, got d_model = {d_model} and heads = {heads}"
        ):
            MultiHeadAttention(d_model, heads)

    def test_multi_head_dropout(self) -> None:
        with pytest.raises(ValueError, match=r"dropout must be at least 0 and below 1, got 1.5"):
            MultiHeadAttention(8, 2, dropout=1.5)

    @pytest.mark.parametrize("name", ["query", "key", "value"])
    def test_multi_head_inputs(self, name: str) -> None:
        attention = MultiHeadAttention(8, 2)
        for wrong, got in ((torch.ones(4, 8), r"\(4, 8\)"), (torch.ones(2, 4, 6), r"\(2, 4, 6\)")):
            arguments = dict.fromkeys(("query", "key", "value"), torch.ones(2, 4, 8)) | {name: wrong}
            with pytest.raises(
                ValueError, match=rf"{name} must be \(batch, length, d_model = 8\), got {got}"
            ):
                attention(**arguments)
