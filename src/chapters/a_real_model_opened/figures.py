"""The figures of “A real model, opened”, described by what is drawn."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from torch import Tensor

from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import DASHES, MARKERS, Axis, curves, plot, rounded

PLACES = (1, 8, 32, 128, 255)  # borders between the places of which a mean is drawn


def by_place(nats: Mapping[str, Tensor]) -> None:
    """`by_place({"as loaded": nats})` draws what a piece costs, (rows, 255) nats, by how far on it stands."""
    spans = [f"{start}–{end}" for start, end in pairwise(PLACES)]
    means = {
        name: [each[:, start - 1 : end - 1].mean().item() for start, end in pairwise(PLACES)]
        for name, each in nats.items()
    }
    told = "; ".join(f"{name}: {', '.join(f'{mean:.1f}' for mean in line)}" for name, line in means.items())
    with plot(f"Nats a piece at places {', '.join(spans)} of a text. {told}.", size=(5.2, 2.4)) as (axes,):
        for (name, line), colour, marker, dash in zip(means.items(), SERIES, MARKERS, DASHES, strict=False):
            axes.plot(spans, rounded(line), color=COLOURS[colour][0], marker=marker, ls=dash, label=name)
        axes.set_ylim(0)
        axes.set_xlabel("place in the text")
        axes.set_ylabel("nats a piece")
        axes.figure.legend(loc="outside upper left", ncols=2)


def ladder(bits: Mapping[str, float]) -> None:
    """`ladder({"GPT": 1.61, "SmolLM2": 1.1})` gives each reader a line, most bits first."""
    ordered = sorted(bits, key=bits.__getitem__)
    told = ", ".join(f"{name} {bits[name]:.2f}" for name in reversed(ordered))
    with plot(f"Bits a byte of held-out docstrings. {told}.", size=(5.2, 2.1)) as (axes,):
        for place, name in enumerate(ordered):
            colour = COLOURS[SERIES[0] if "SmolLM2" in name else "ink"][0]
            number = round(float(bits[name]), 3)
            axes.plot(number, place, "o", color=colour)
            axes.text(number + 0.02, place, f"{number:.2f}", va="center", color=colour)
        axes.set_yticks(range(len(ordered)), ordered, va="center")
        axes.tick_params(axis="y", length=0)
        axes.set_xlim(min(bits.values()) - 0.1, max(bits.values()) + 0.15)
        axes.set_xlabel("bits a byte")


def fewer_bits(bits: Sequence[int], costs: Mapping[str, Tensor], whole: float) -> None:
    """`fewer_bits([8, 4, 3, 2], {"blocks of 32": nats}, whole=2.5)` draws what rounding adds, by bits."""
    added = {name: (each - whole).clamp(min=1e-3).tolist() for name, each in costs.items()}
    told = "; ".join(f"{name}: {', '.join(f'{more:.2g}' for more in line)}" for name, line in added.items())
    curves(
        bits,
        added,
        Axis("bits a number", log=2),
        Axis("nats a piece, added", log=10),
        alt=f"What rounding all matrices of the blocks to {', '.join(map(str, bits))} bits adds to a piece's "
        f"cost of {whole:.2f} nats, on a logarithmic scale. {told}.",
        legend_above=True,
    )


def harm(added: Mapping[str, Tensor]) -> None:
    """`harm({"capitals": nats})` shades a square for each head, (blocks, heads), by what its absence adds."""
    names = {"texts": "docstrings", "capitals": "capitals", "copies": "copies"}
    told = []
    for name, each in added.items():
        most = [divmod(int(place), each.shape[1]) for place in each.flatten().topk(3).indices]
        heads = ", ".join(f"{block}.{head} {each[block, head]:.2g}" for block, head in most)
        told.append(f"{names[name]}: {heads}")
    alt = (
        "What each head's absence adds, in nats, a row for each block and a column for each head. Most for "
        f"{'; for '.join(told)}."
    )
    with plot(alt, size=(6.6, 2.8), panels=len(added), grid=False) as all_axes:
        for axes, (name, each) in zip(all_axes, added.items(), strict=True):
            # By the root: a tenth of the largest can still be seen.
            shades = (each / each.max()).clamp(min=0).sqrt()
            axes.imshow(rounded(shades), cmap="Blues", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
            axes.set_xticks(range(each.shape[1]))
            axes.set_title(names[name])
            axes.set_xlabel("head")
        all_axes[0].set_yticks(range(0, len(each), 5))
        all_axes[0].set_ylabel("block")


def sights(costs: Mapping[str, float]) -> None:
    """`sights({"all": 2.5, "the last 64": 4.2})` gives each way to see a bar, from the top down."""
    names = list(costs)[::-1]
    told = ", ".join(f"{name} {cost:.2f}" for name, cost in costs.items())
    with plot(f"Nats a piece by what each place sees. {told}.", size=(6.2, 2.3)) as (axes,):
        for place, name in enumerate(names):
            cost = round(float(costs[name]), 3)
            axes.barh(place, cost, 0.62, color=COLOURS[SERIES[0]][0], alpha=0.75)
            axes.text(cost + 0.05, place, f"{cost:.2f}", va="center")
        axes.set_yticks(range(len(names)), names, va="center")
        axes.tick_params(axis="y", length=0)
        axes.set_xlim(0, max(costs.values()) + 0.6)
        axes.set_xlabel("nats a piece")


def moved(blocks: Sequence[int], chances: Mapping[str, Tensor]) -> None:
    """`moved([0, 23, 24], {"at Italy": shares})` draws the chance of Rome by where a vector is put in."""
    told = "; ".join(
        f"{name}: "
        + ", ".join(f"{share:.2f} before block {block}" for block, share in zip(blocks, each, strict=True))
        for name, each in chances.items()
    )
    with plot(
        f"The chance of Rome behind France, by where a vector of Italy was put. {told}.", size=(5.2, 2.4)
    ) as (axes,):
        for (name, each), colour, marker, dash in zip(chances.items(), SERIES, MARKERS, DASHES, strict=False):
            axes.plot(
                blocks, rounded(each), color=COLOURS[colour][0], marker=marker, ms=3.5, ls=dash, label=name
            )
        axes.set_ylim(0, 0.6)
        axes.set_xlabel("before which block")
        axes.set_ylabel("the chance of Rome")
        axes.figure.legend(loc="outside upper left", ncols=2)


def weights_of(weights: Tensor, pieces: Sequence[str]) -> None:
    """`weights_of(weights, ["The", " cat"])` shades the weights (T, T) of one head."""
    seen = [piece.replace(" ", "␣").replace("\\n", "↵") for piece in pieces]
    side = 1.3 + 0.18 * len(seen)
    most = weights.max(dim=-1)
    told = "; ".join(
        f"{piece} looks at {seen[int(place)]} by {share:.2f}"
        for piece, share, place in zip(seen, most.values.tolist(), most.indices, strict=True)
    )
    with plot(f"The weights of a head: {told}.", size=(side, side), grid=False) as (axes,):
        axes.imshow(rounded(weights), cmap="Blues", vmin=0, vmax=1, interpolation="nearest")
        axes.set_xticks(range(len(seen)), seen, rotation=60, ha="right", rotation_mode="anchor")
        axes.set_yticks(range(len(seen)), seen)
        axes.tick_params(length=0)


def two_heads(weights: Mapping[str, Tensor], pieces: Sequence[str]) -> None:
    """`two_heads({"16.0": before, "18.6": copies}, pieces)` shades the weights of two heads, side by side."""
    seen = [piece.strip() for piece in pieces]
    told = "; ".join(
        f"head {name}: "
        + ", ".join(
            f"{seen[row]} at {seen[int(each.argmax())]} {int(each.argmax()) - row}"
            for row, each in enumerate(matrix)
        )
        for name, matrix in weights.items()
    )
    with plot(f"Where most weight lies, and how many places off. {told}.", size=(5.8, 2.8), panels=2,
              grid=False) as all_axes:  # fmt: skip
        for axes, (name, matrix) in zip(all_axes, weights.items(), strict=True):
            axes.imshow(rounded(matrix), cmap="Blues", vmin=0, vmax=1, interpolation="nearest")
            axes.set_xticks(range(len(seen)), seen, rotation=60, ha="right", rotation_mode="anchor")
            axes.set_yticks(range(len(seen)), seen)
            axes.tick_params(length=0)
            axes.set_title(f"head {name}")
