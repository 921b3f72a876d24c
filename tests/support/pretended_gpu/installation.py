"""How the pretended GPU gets into PyTorch."""

import contextlib

import torch
from torch import Tensor
from torch.library import impl as implement
from torch.optim.optimizer import _foreach_supported_types
from torch.overrides import TorchFunctionMode
from torch.utils import _device, backend_registration
from torch.utils import _pytree as pytree

from pretended_gpu.operators import GENERATOR, drawn
from pretended_gpu.tensor import CUDA, PRETENDED, CudaTensor, loaded

# C++ asks for these itself, past __torch_dispatch__.
FROM_CPP = {
    "empty.memory_format": lambda size, dtype=None, **options: CudaTensor(torch.empty(size, dtype=dtype)),
    "empty_strided": lambda size, stride, dtype=None, **options: CudaTensor(
        torch.empty_strided(size, stride, dtype=dtype)
    ),
    "_local_scalar_dense": lambda tensor: tensor.held.item(),
}
IN_TORCH_CUDA = {
    "current_device": lambda: CUDA.index,
    "device": contextlib.nullcontext,
    "device_count": lambda: 1,
    "get_device_name": lambda device=None: "a pretended GPU",
    "get_rng_state": lambda device=None: GENERATOR.get_state(),
    "is_available": lambda: True,
    "manual_seed_all": lambda seed: GENERATOR.manual_seed(seed + 1),
    "set_rng_state": lambda state, device=None: GENERATOR.set_state(state),
    "synchronize": lambda device=None: None,
}
from_file = torch.load


def install():
    """`install()` is called once in a process, before anything is computed, and stays."""
    backend_registration._setup_privateuseone_for_python_backend(PRETENDED.partition(":")[0])
    for name, function in FROM_CPP.items():
        implement(f"aten::{name}", "privateuseone")(function)
    vars(torch.cuda).update(IN_TORCH_CUDA)
    torch.accelerator.current_accelerator = lambda check_available=False: torch.device("cuda")
    torch.autograd.set_multithreading_enabled(False)  # a thread for each device would double the time
    torch.backends.cudnn.enabled = False  # there is none to pretend with
    torch.load = load
    torch.serialization.add_safe_globals([loaded])
    # On CUDA an optimizer steps all parameters at once, which rounds at other places.
    _foreach_supported_types.append(CudaTensor)
    # Modules of attention ask this before they take their fast way; the mode below is no reason against it.
    torch.overrides.has_torch_function = lambda tensors: any(type(each) is CudaTensor for each in tensors)
    Names().__enter__()


def load(file, map_location=None, **options):
    """A file says of a tensor that it was on the GPU in a way that only this can move elsewhere."""
    content = from_file(file, map_location="cpu" if is_gpu(map_location) else map_location, **options)
    if map_location is None:
        return content
    where = PRETENDED if is_gpu(map_location) else map_location
    return pytree.tree_map_only(Tensor, lambda tensor: tensor.to(where), content)


def is_gpu(where):
    return isinstance(where, (str, torch.device)) and str(where).partition(":")[0] in ("cuda", "pretended")


class Names(TorchFunctionMode):
    """Who names the device cuda gets the pretended one."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        # Each step of a training comes here a hundred times: nearly always to go straight on.
        if (ours := OURS.get(function)) is not None:
            return ours(function, args, kwargs or {})
        current = _device.CURRENT_DEVICE
        if current is not None and is_gpu(current) and function in _device._device_constructors():
            kwargs = {"device": CUDA} | (kwargs or {})
        if not kwargs:
            return function(*args)
        is_made = is_gpu(kwargs.get("device"))
        return made(function, args, kwargs) if is_made else function(*args, **kwargs)


def to(function, args, kwargs):
    args = [PRETENDED if is_gpu(value) else value for value in args]
    return function(*args, **{name: PRETENDED if is_gpu(value) else value for name, value in kwargs.items()})


def device(function, args, kwargs):
    """Also of the tensors that vmap makes of ours."""
    where = function(*args)
    return CUDA if is_gpu(where) else where


def recurrence(function, args, kwargs):
    # Of packed sequences the third is a state, and of others the weights.
    is_batch_first = isinstance(args[2], list) and args[-1]
    return batch_second(function, *args[:-1]) if is_batch_first else function(*args)


OURS = {
    Tensor.cuda: lambda function, args, kwargs: args[0].to(PRETENDED),
    Tensor.to: to,
    Tensor.device.__get__: device,
    torch._VF.gru: recurrence,
    torch._VF.lstm: recurrence,
}


def batch_second(recurrence, inputs, *rest):
    """With the batch first PyTorch turns the outputs in place: no tensor here can change its own shape."""
    outputs, *last = recurrence(inputs.transpose(0, 1), *rest, False)
    return outputs.transpose(0, 1), *last


def made(function, args, kwargs):
    """What is to be made on the GPU is made on the CPU, and moved."""
    if kwargs.get("generator") is not None:
        raise RuntimeError("Expected a 'cuda' device type for generator but found 'cpu'")
    requires_grad = kwargs.pop("requires_grad", False)
    tensor = drawn(lambda: function(*args, **kwargs | {"device": "cpu"})).to(PRETENDED)
    return tensor.requires_grad_() if requires_grad else tensor
