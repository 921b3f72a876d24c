"""Mistakes of many heads: how vectors are cut, and what the heads found is joined."""

from bookkit.checking.mistakes import Mistakes

# --- how vectors are cut into heads, and what the heads found is joined: x, heads -> pieces; pieces -> x ---

SPLITTING: Mistakes = {
    "view without transpose": (
        "The numbers are dealt out anew, so that a row of a head holds pieces of several words. Cut each "
        "word first, (B, T, heads, d_k), and then swap the axes.",
        lambda x, heads: x.reshape(len(x), heads, -1, x.shape[-1] // heads),
    ),
    "every other number": (
        "Head 0 gets the numbers 0, heads, 2 · heads, … of a word. It should get the first d_k, which are "
        "neighbours: view(B, T, heads, d_k), and not (B, T, d_k, heads).",
        lambda x, heads: x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2),
    ),
    "not transposed": (
        "The words are cut, but T still stands before the heads: attention would run over the heads of one "
        "word. Swap the two axes.",
        lambda x, heads: x.unflatten(-1, (heads, -1)),
    ),
}
JOINING: Mistakes = {
    "joined without a transpose": (
        "The answers are joined head after head, which mixes the words. Swap heads and n first: (B, n, "
        "heads, d_k).",
        lambda x: x.reshape(len(x), x.shape[2], -1),
    ),
    "heads woven": (
        "The heads' numbers alternate in what goes into W_O. All of head 0 comes first, then all of head 1.",
        lambda x: x.permute(0, 2, 3, 1).flatten(2),
    ),
    "heads in reverse": (
        "The heads are joined from the last to the first.",
        lambda x: x.flip(1).transpose(1, 2).flatten(2),
    ),
    "heads averaged": (
        "The heads are averaged and then repeated. Set their answers side by side: none should be lost.",
        lambda x: x.mean(1, keepdim=True).expand_as(x).transpose(1, 2).flatten(2),
    ),
}
