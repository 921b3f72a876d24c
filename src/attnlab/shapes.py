"""Names for the shapes that tensors have in this book.

Each name is only `Tensor` to Python; to a reader of a signature it says what the axes are. `…` stands for
any leading axes (batch, heads, seeds), n for the number of queries and m for the number of keys.
"""

from typing import TypeAlias

from torch import Tensor

Queries: TypeAlias = Tensor  # (…, n, d_k)
Keys: TypeAlias = Tensor  # (…, m, d_k)
Values: TypeAlias = Tensor  # (…, m, d_v)
Scores: TypeAlias = Tensor  # (…, n, m)
Weights: TypeAlias = Tensor  # (…, n, m), each row sums to 1 over the keys it may see
Mask: TypeAlias = Tensor  # (…, n, m) boolean, True = may attend
Lengths: TypeAlias = Tensor  # (batch,) whole numbers
Vectors: TypeAlias = Tensor  # (batch, time, d_model)
