"""How long attention takes by tiles, and by a whole table."""

# ---- measured once ----

LENGTHS = (256, 512, 1024, 2048)
# Times of four heads of 32 columns, forward, over those of the fused kernel: the middle of three
# medians, each of seven turns in which all took theirs. One thread of a cloud machine's core, torch 2.13.
OVER_FUSED = {
    "the whole": (1.4, 1.5, 3.6, 3.6),
    "given memory": (1.1, 1.4, 1.4, 1.5),
    "tiles": (2.3, 2.0, 2.0, 1.9),
}
