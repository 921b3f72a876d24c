"""Say the shapes of masks, and what they do to scores."""

from bookkit.checking.puzzle import ShapePuzzle

# 3 texts with lengths 7, 4 and 2, 4 heads, 5 queries, 7 keys.
_SHAPES = {
    "padding": (3, 1, 7),
    "causal": (1, 5, 7),
    "both": (3, 5, 7),
    "for_heads(both)": (3, 1, 5, 7),
    "masked_softmax(scores, for_heads(both))": (3, 4, 5, 7),
    'to_multihead(padding, heads=4)["key_padding_mask"]': (3, 7),
    'to_multihead(both, heads=4)["attn_mask"]': (12, 5, 7),
}


_FOR_KEYS, _FOR_PAIRS = list(_SHAPES)[-2:]


check_mask_shapes = ShapePuzzle(
    "mask_shapes",
    difficulty=1,
    minutes=5,
    shapes=_SHAPES,
    mistakes={
        "no axis for the queries": (
            "this is one row for each text, and no axis for the queries. It stays, with length 1, so that "
            "nothing can be lined up with the wrong axis.",
            {"padding": (3, 7)},
        ),
        "no axis for the texts": (
            "this is one table, and no axis for the texts. It stays, with length 1.",
            {"causal": (5, 7), "both": (5, 7)},
        ),
        "written out for every query": (
            "all queries of a text see alike, so one row is enough for them: that axis has length 1.",
            {"padding": (3, 5, 7)},
        ),
        "written out for every text": (
            "all texts see alike, so one table is enough for them: that axis has length 1.",
            {"causal": (3, 5, 7)},
        ),
        "as many queries as keys": (
            "there are 5 queries and 7 keys: a row for each query.",
            {"causal": (1, 7, 7), "both": (3, 7, 7)},
        ),
        "as many keys as queries": (
            "there are 5 queries and 7 keys: a column for each key.",
            {"causal": (1, 5, 5), "both": (3, 5, 5), "padding": (3, 1, 5)},
        ),
        "the longest of one axis lost": (
            "where one mask has length 1 and the other more, what both allow has the longer of the two.",
            {"both": (1, 1, 7)},
        ),
        "written out for every head": (
            "all heads see alike, so their axis has length 1 and nothing is copied.",
            {"for_heads(both)": (3, 4, 5, 7)},
        ),
        "heads in front": (
            "the batch comes first, then the heads.",
            {"for_heads(both)": (1, 3, 5, 7)},
        ),
        "the mask's own axis": (
            "the mask is spread over the heads: there is a weight for each head, query and key of each text.",
            {"masked_softmax(scores, for_heads(both))": (3, 1, 5, 7)},
        ),
        "summed over the keys": (
            "softmax makes a weight of every score: as many numbers come out as went in.",
            {"masked_softmax(scores, for_heads(both))": (3, 4, 5)},
        ),
        "our shape in their module": (
            "nn.MultiheadAttention takes a row for each text here, without an axis for the queries.",
            {_FOR_KEYS: (3, 1, 7)},
        ),
        "a row for every head": (
            "the module spreads this one over its heads by itself.",
            {_FOR_KEYS: (12, 7)},
        ),
        "heads on an axis of their own": (
            "nn.MultiheadAttention wants three axes here: texts and heads share the first.",
            {_FOR_PAIRS: (3, 4, 5, 7)},
        ),
        "heads left out": (
            "nn.MultiheadAttention wants a table for every head of every text.",
            {_FOR_PAIRS: (3, 5, 7)},
        ),
    },
)
