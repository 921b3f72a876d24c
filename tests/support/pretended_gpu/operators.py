"""What CUDA does with PyTorch's operators: what it takes, what it refuses, and how it computes."""

import functools

import torch
from torch import Tag, Tensor

from pretended_gpu import noise
from pretended_gpu.recurrence import FUSED
from pretended_gpu.tensor import CudaTensor

TRANSFERS = {"copy_", "_copy_from", "_to_copy"}  # one side may be on the CPU
INDEXING = {"index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index"}  # the indices may be
# How long sequences are is kept on the CPU: it comes second, and as the second result.
PACKING = {"_pack_padded_sequence", "_pad_packed_sequence"}
# A single number may be on the CPU here, and in whatever goes from element to element.
TAKES_NUMBERS = {*INDEXING, "fill", "fill_", "masked_fill", "masked_fill_", "where"}
# From the docstring of torch.use_deterministic_algorithms, less what is for images;
# some only at times (see is_refused).
NOT_DETERMINISTIC = {
    "_cdist_backward", "_ctc_loss_backward", "_embedding_bag_dense_backward", "histc", "kthvalue",
    "median.dim", "nanmedian.dim", "nll_loss2d_forward", "put", "put_", "scatter_reduce.two",
    "bincount", "cumsum", "cumsum_",
}  # fmt: skip
GENERATOR = torch.Generator()  # the GPU's own, which gives other numbers for the same seed


def run(function, arguments, options):
    """What `function` gives on the GPU, or the error that CUDA would raise."""
    operator = known(function)
    held = [
        value.held if type(value) is CudaTensor else operator.admitted(value, place)
        for place, value in enumerate(arguments)
    ]
    held_options = {name: operator.admitted(value, name) for name, value in options.items()}
    device = options.get("device")
    if device is not None:
        held_options["device"] = "cpu"
    result = operator.computed(held, held_options, arguments)
    if device is not None and device.type == "cpu":
        return result
    if operator.name in PACKING:
        return on_the_gpu(result[0]), result[1]
    if not operator.writes:
        return CudaTensor(result) if type(result) is Tensor else on_the_gpu(result)
    # What was written into stays the tensor that was given.
    pairs = zip([*held, *held_options.values()], [*arguments, *options.values()], strict=True)
    return on_the_gpu(result, {id(inside): outside for inside, outside in pairs})


class Operator:
    """One of PyTorch's, and what CUDA makes of it: looked up once, since it is asked at every call."""

    def __init__(self, function):
        if Tag.inplace_view in function.tags:
            raise NotImplementedError(f"{function}: a tensor of the pretended GPU can't change its own shape")
        self.function, self.name = function, function._opname
        self.writes = function._schema.is_mutable
        self.draws = Tag.nondeterministic_seeded in function.tags
        self.takes_numbers = Tag.pointwise in function.tags or self.name in TAKES_NUMBERS
        self.may_differ = bool({self.name, function.__name__} & NOT_DETERMINISTIC)
        self.divides = self.name in ("div", "div_")
        self.terms = noise.SUMS.get(self.name.rstrip("_"))
        self.rounds = self.name.rstrip("_") in noise.ROUNDED

    def admitted(self, value, place):
        """What a tensor of the GPU's holds; any other value as it is, unless CUDA would refuse it."""
        if type(value) is CudaTensor:
            return value.held
        if isinstance(value, (int, float)) or value is None:
            return value
        if isinstance(value, (list, tuple)):
            return [self.admitted(each, place) for each in value]
        if isinstance(value, Tensor) and not self.may_be_on_the_cpu(value, place):
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and "
                f"{value.device}! ({self.function}, a tensor of shape {tuple(value.shape)})"
            )
        if type(value) is torch.Generator:
            raise RuntimeError("Expected a 'cuda' device type for generator but found 'cpu'")
        return value

    def may_be_on_the_cpu(self, tensor, place):
        if self.name in TRANSFERS or (self.name in INDEXING | PACKING and place == 1):
            return True
        is_result = self.writes and place in (0, "out")
        return tensor.dim() == 0 and not is_result and self.takes_numbers

    def computed(self, held, options, arguments):
        if self.may_differ and self.is_refused(held):
            raise RuntimeError(f"{self.function} on CUDA does not have a deterministic implementation")
        if self.name in FUSED:
            return FUSED[self.name](*held)
        if self.draws:
            return drawn(lambda: self.function(*held, **options))
        only_puts = self.name in INDEXING and held[3:4] != [True]  # it overwrites, and adds up nothing
        if self.terms is not None and not only_puts:
            held = noise.in_terms(self.terms, held)
        if self.name == "mean":
            return mean(*held, **options)
        by_a_number = self.divides and not options and type(arguments[1]) is not CudaTensor
        if by_a_number and held[0].is_floating_point():
            return getattr(held[0], self.name.replace("div", "mul"))(reciprocal(held[1], held[0].dtype))
        result = self.function(*held, **options)
        if self.rounds:
            # Those that change lists of tensors return nothing.
            noise.in_result(held[0] if result is None else result)
        return result

    def is_refused(self, held):
        """Whether two runs on CUDA could differ, where the program asked that they don't."""
        if not torch.are_deterministic_algorithms_enabled():
            return False
        if self.name == "bincount":
            return held[1:2] not in ([], [None])  # with weights
        return held[0].is_floating_point() or self.name not in ("cumsum", "cumsum_")


known = functools.cache(Operator)


# CUDA multiplies by 1 / n where a CPU divides by n: in a mean, and where a single number divides a tensor.
def mean(tensor, *where, **options):
    total = torch.sum(tensor, *where, **options)
    return total * reciprocal(tensor.numel() / max(1, total.numel()), total.dtype)


def reciprocal(number, dtype):
    return torch.as_tensor(number, dtype=dtype).reciprocal()


def on_the_gpu(result, written=None):
    """The result's tensors on the GPU: those that were written into are the ones that were given."""
    if isinstance(result, Tensor):
        return written[id(result)] if written and id(result) in written else CudaTensor(result)
    if isinstance(result, (list, tuple)):
        return type(result)(on_the_gpu(each, written) for each in result)
    return result


def drawn(draw):
    """`drawn(lambda: torch.rand(3))` are numbers of the GPU's generator; the CPU's stays as it was."""
    on_cpu = torch.get_rng_state()
    torch.set_rng_state(GENERATOR.get_state())
    try:
        return draw()
    finally:
        GENERATOR.set_state(torch.get_rng_state())
        torch.set_rng_state(on_cpu)
