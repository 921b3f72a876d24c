"""A tensor on the pretended GPU."""

import torch
from torch import Tensor, nn

CUDA = torch.device("cuda", 0)  # where Python is told that it is
PRETENDED = "pretended:0"  # where C++ is told that it is


class CudaTensor(Tensor):
    """`CudaTensor(torch.ones(3))` says that it is on cuda:0; its numbers are in `held`, on the CPU."""

    # What is done with it comes to __torch_dispatch__, an operator at a time; this would come before.
    __torch_function__ = torch._C._disabled_torch_function_impl
    device, is_cuda, is_cpu = CUDA, True, False

    @staticmethod
    def __new__(cls, held):
        tensor = Tensor._make_wrapper_subclass(
            cls, held.shape, strides=held.stride(), storage_offset=held.storage_offset(), dtype=held.dtype,
            device=PRETENDED,
        )  # fmt: skip
        tensor.held = held
        return tensor

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        from pretended_gpu.operators import run  # here, since operators make tensors

        with torch._C.DisableTorchFunction():  # what Names is for is done
            return run(function, args, kwargs or {})

    # With these two PyTorch can exchange what a parameter is, so that `model.to(device)` keeps the object.
    def __tensor_flatten__(self):
        return ["held"], None

    @staticmethod
    def __tensor_unflatten__(parts, context, size, stride):
        return CudaTensor(parts["held"])

    @property
    def data(self):
        return self.detach()

    @data.setter
    def data(self, value):
        torch.utils.swap_tensors(self, nn.Parameter(value) if isinstance(self, nn.Parameter) else value)

    def numpy(self, *, force=False):
        if force:
            return self.detach().cpu().numpy()
        raise TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() first.")

    # C++ would read memory that it takes to be on a GPU.
    def tolist(self):
        return self.held.tolist()

    def data_ptr(self):
        return self.held.data_ptr()

    def untyped_storage(self):
        return self.held.untyped_storage()

    def __repr__(self, **options):
        gradient = ", requires_grad=True" if self.requires_grad else ""
        return f"{repr(self.held)[:-1]}, device='{CUDA}'{gradient})"

    def __format__(self, specification):
        return format(self.item() if self.dim() == 0 else repr(self), specification)

    def __deepcopy__(self, memo):
        memo[id(self)] = loaded(self.held.clone(), self.requires_grad, isinstance(self, nn.Parameter))
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        return loaded, (self.held, self.requires_grad, isinstance(self, nn.Parameter))


def loaded(held, requires_grad, is_parameter):
    """What a copy or a file is made into."""
    tensor = CudaTensor(held)
    return nn.Parameter(tensor, requires_grad) if is_parameter else tensor.requires_grad_(requires_grad)
