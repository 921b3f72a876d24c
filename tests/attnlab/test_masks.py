"""The masks: what each query may see, and what the same mask is in PyTorch's two conventions."""

import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.masks import (
    causal,
    combine,
    for_heads,
    from_multihead,
    padding,
    to_multihead,
    window,
)

quick = settings(deadline=None, derandomize=True, max_examples=25)


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


class TestPadding:
    @quick
    @given(st.lists(st.integers(0, 6), min_size=1, max_size=5), st.one_of(st.none(), st.integers(0, 8)))
    def test_shows_each_example_its_first_keys(self, lengths: list[int], longest: int | None) -> None:
        mask = padding(torch.tensor(lengths), longest)
        m = max(lengths) if longest is None else longest
        assert mask.shape == (len(lengths), 1, m)
        assert mask.dtype == torch.bool
        assert mask.tolist() == [[[position < length for position in range(m)]] for length in lengths]

    def test_on_meta(self) -> None:
        assert padding(torch.ones(3, dtype=torch.int64, device="meta"), longest=7).shape == (3, 1, 7)

    @pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.int64])
    def test_takes_every_whole_number(self, dtype: torch.dtype) -> None:
        assert padding(torch.tensor([1, 2], dtype=dtype)).tolist() == [[[True, False]], [[True, True]]]

    @pytest.mark.parametrize(
        ("lengths", "got"),
        [
            (torch.tensor([[1, 2]]), r"\(1, 2\) of torch.int64"),
            (torch.tensor(2), r"\(\) of torch.int64"),
            (torch.tensor([1.0]), r"\(1,\) of torch.float32"),
            (torch.tensor([True]), r"\(1,\) of torch.bool"),
        ],
    )
    def test_refuses_what_are_no_lengths(self, lengths: Tensor, got: str) -> None:
        with pytest.raises(ValueError, match=rf"lengths must be \(batch,\) whole numbers, got {got}"):
            padding(lengths)


class TestCausal:
    @quick
    @given(st.integers(0, 6), st.integers(0, 4))
    def test_shows_the_past_and_the_last_query_sees_the_last_key(self, n: int, cached: int) -> None:
        mask = causal(n, n + cached)
        assert mask.shape == (1, n, n + cached)
        assert mask.dtype == torch.bool
        assert mask[0].tolist() == [
            [key <= query + cached for key in range(n + cached)] for query in range(n)
        ]

    def test_without_a_cache_is_what_is_causal_means(self) -> None:
        x = random(1, 1, 5, 4)
        theirs = F.scaled_dot_product_attention(x, x, x, is_causal=True)
        ours = F.scaled_dot_product_attention(x, x, x, attn_mask=for_heads(causal(5)))
        torch.testing.assert_close(ours, theirs)

    def test_on_meta(self) -> None:
        assert causal(3, 5, device=torch.device("meta")).device.type == "meta"

    def test_more_queries_than_keys_raise(self) -> None:
        with pytest.raises(ValueError, match=r"n must be from 0 to m, .*got n = 3, m = 2"):
            causal(3, 2)


class TestWindow:
    @quick
    @given(st.integers(0, 6), st.integers(0, 4), st.integers(1, 9), st.integers(0, 9))
    def test_shows_the_last_few_and_the_first_few(self, n: int, cached: int, width: int, sinks: int) -> None:
        mask = window(n, width, sinks, n + cached)
        assert mask.shape == (1, n, n + cached)
        assert mask.dtype == torch.bool
        assert mask[0].tolist() == [
            [key <= query and (query - key < width or key < sinks) for key in range(n + cached)]
            for query in range(cached, n + cached)
        ]

    def test_as_wide_as_the_text_is_causal(self) -> None:
        assert window(5, 5).equal(causal(5))
        assert window(2, 5, m=5).equal(causal(2, 5))

    def test_on_meta(self) -> None:
        assert window(3, 2, 1, 5, torch.device("meta")).device.type == "meta"

    def test_errors(self) -> None:
        with pytest.raises(ValueError, match="width must be at least 1, got 0"):
            window(3, 0)
        with pytest.raises(TypeError, match=r"width must be a whole number, got 1\.5"):
            window(3, 1.5)
        with pytest.raises(ValueError, match="sinks must be at least 0, got -1"):
            window(3, 2, sinks=-1)
        with pytest.raises(ValueError, match=r"n must be from 0 to m, .*got n = 3, m = 2"):
            window(3, 2, m=2)


class TestCombine:
    @quick
    @given(st.lists(st.integers(0, 5), min_size=1, max_size=4))
    def test_shows_what_all_show(self, lengths: list[int]) -> None:
        mask = combine(padding(torch.tensor(lengths), 5), causal(5))
        assert mask.tolist() == [
            [[key < length and key <= query for key in range(5)] for query in range(5)] for length in lengths
        ]

    def test_takes_any_number_of_masks(self) -> None:
        odd = (torch.arange(4) % 2 == 1).view(1, 1, 4)
        assert combine(odd).equal(odd)
        assert combine(padding(torch.tensor([3]), 4), causal(4), odd)[0, 3].tolist() == [
            False,
            True,
            False,
            False,
        ]

    def test_refuses_masks_that_do_not_fit(self) -> None:
        for other in (torch.ones(3, 1, 5), torch.ones(1, 4, 5), torch.ones(1, 1, 6)):
            words = f"masks must have axes that are equal or 1, got {[(2, 5, 5), tuple(other.shape)]}"
            with pytest.raises(ValueError, match=re.escape(words)):
                combine(torch.ones(2, 5, 5).bool(), other.bool())

    def test_refuses_nothing(self) -> None:
        with pytest.raises(ValueError, match="masks must be at least one, got none"):
            combine()


class TestBatchTimeMask:
    @pytest.mark.parametrize(
        "function",
        [for_heads, combine, lambda mask: combine(causal(5), mask), lambda mask: to_multihead(mask, 2)],
    )
    def test_is_refused_everywhere_and_told_what_to_write(self, function: object) -> None:
        with pytest.raises(
            ValueError, match=r"mask must be \(batch, n, m\), got \(5, 5\): write mask\[:, None\]"
        ):
            function(torch.ones(5, 5, dtype=torch.bool))
        with pytest.raises(ValueError, match=r"mask must be \(batch, n, m\), got \(2, 1, 1, 5\)"):
            function(torch.ones(2, 1, 1, 5, dtype=torch.bool))
        with pytest.raises(TypeError, match=r"mask must be boolean, got torch.float32.*`mask == 0`"):
            function(torch.zeros(2, 5, 5))


@st.composite
def masks(draw: st.DrawFn) -> Tensor:
    """A mask in each of its forms. Every query sees a key: PyTorch's module gives NaN otherwise."""
    batch, n, m = draw(st.sampled_from([(3, 4, 5), (3, 1, 5), (1, 4, 5)]))
    shown = draw(st.lists(st.booleans(), min_size=batch * n * m, max_size=batch * n * m))
    mask = torch.tensor(shown).view(batch, n, m)
    mask[..., 0] = True
    return mask


class TestConversions:
    @quick
    @given(masks())
    def test_both_of_pytorchs_attentions_see_just_what_the_mask_shows(self, mask: Tensor) -> None:
        query, key = random(3, 4, 8), random(3, 5, 8)
        attention = nn.MultiheadAttention(8, 2, batch_first=True)
        _, weights = attention(query, key, key, **to_multihead(mask, heads=2), average_attn_weights=False)
        assert (weights > 0).equal(for_heads(mask).expand(3, 2, 4, 5))

        # With an identity matrix as values, the output is the weights.
        query, key = (x.unflatten(-1, (2, 4)).transpose(1, 2) for x in (query, key))
        value = torch.eye(5).expand(3, 2, 5, 5)
        weights = F.scaled_dot_product_attention(query, key, value, attn_mask=for_heads(mask))
        assert (weights > 0).equal(for_heads(mask).expand(3, 2, 4, 5))

    @quick
    @given(masks())
    def test_round_trips(self, mask: Tensor) -> None:
        assert from_multihead(2, **to_multihead(mask, heads=2)).equal(mask)

    def test_one_row_for_all_is_padding_of_one_example(self) -> None:
        assert to_multihead(padding(torch.tensor([2]), 3), heads=2)["key_padding_mask"].tolist() == [
            [False, False, True]
        ]

    def test_reads_both_masks_of_the_module_together(self) -> None:
        lengths = torch.tensor([4, 2])
        future = nn.Transformer.generate_square_subsequent_mask(4) != 0  # -inf where blocked
        blocked = torch.arange(4) >= lengths[:, None]
        assert from_multihead(2, future, blocked).equal(combine(padding(lengths), causal(4)))
        assert from_multihead(2, attn_mask=future).equal(causal(4))
        assert from_multihead(2, key_padding_mask=blocked).equal(padding(lengths))

    def test_errors(self) -> None:
        boolean, number = torch.zeros(3, 4, dtype=torch.bool), torch.zeros(3, 4)
        with pytest.raises(ValueError, match="attn_mask or key_padding_mask must be given, got neither"):
            from_multihead(2)
        with pytest.raises(TypeError, match=r"attn_mask must be boolean, got .*`attn_mask != 0`"):
            from_multihead(2, attn_mask=number)
        with pytest.raises(TypeError, match=r"key_padding_mask must be boolean, .*`key_padding_mask != 0`"):
            from_multihead(2, key_padding_mask=number)
        with pytest.raises(ValueError, match=r"key_padding_mask must be \(batch, m\), got \(4,\)"):
            from_multihead(2, key_padding_mask=boolean[0])
        for wrong in (boolean[0], boolean[:, None]):  # 3 is no multiple of 2 heads
            with pytest.raises(
                ValueError, match=r"attn_mask must be \(n, m\) or \(batch · heads, n, m\), got .* 2"
            ):
                from_multihead(2, attn_mask=wrong)
        with pytest.raises(ValueError, match="heads must be at least 1, got 0"):
            from_multihead(0, attn_mask=boolean[None])
        with pytest.raises(ValueError, match="attn_mask must hide the same from every head"):
            from_multihead(2, attn_mask=torch.tensor([True, False]).view(2, 1, 1))
