"""The drawings of “Translating with attention”: which word stands for which, and who looks at what."""

from chapters.translating_with_attention.drawings.exercises import company, decoder_parts, reads
from chapters.translating_with_attention.drawings.heat_maps_and_beams import (
    circle,
    counted,
    interventions,
    tree,
)
from chapters.translating_with_attention.drawings.opening import bottleneck, decoders, pair

__all__ = [
    "bottleneck",
    "circle",
    "company",
    "counted",
    "decoder_parts",
    "decoders",
    "interventions",
    "pair",
    "reads",
    "tree",
]
