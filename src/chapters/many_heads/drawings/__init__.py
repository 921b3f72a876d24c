"""The drawings, made from the chapter's own numbers where it has any."""

from chapters.many_heads.drawings.opening import idea, layer, looks
from chapters.many_heads.drawings.output_matrix import removed, table, written_by_heads
from chapters.many_heads.drawings.pieces import pieces
from chapters.many_heads.drawings.uses_and_mistakes import jobs, side_by_side, uses

__all__ = [
    "idea",
    "jobs",
    "layer",
    "looks",
    "pieces",
    "removed",
    "side_by_side",
    "table",
    "uses",
    "written_by_heads",
]
