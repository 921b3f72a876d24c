"""The exercise `epoch_iterations`, tried as readers would."""

import math

import numpy as np
from exercise_cases import changed, judged_as, named
from torch.utils.data import DataLoader, DistributedSampler

from chapters.epochs_batches_iterations.exercises import (
    check_epoch_iterations,
)

iterations = check_epoch_iterations.reference


def by_divmod(examples, batch_size, drop_last, workers):
    whole, rest = divmod(examples, batch_size * workers)
    return np.int64(whole + (1 if rest and not drop_last else 0))


def by_loader(examples, batch_size, drop_last, workers):
    sampler = DistributedSampler(range(examples), workers, rank=workers - 1, drop_last=drop_last)
    return len(DataLoader(range(examples), batch_size, sampler=sampler, drop_last=drop_last))


def rounded(share):
    """Iterations of `share(examples, workers)`."""

    def code(examples, batch_size, drop_last, workers):
        own = share(examples, workers)
        return own // batch_size if drop_last else math.ceil(own / batch_size)

    return code


RIGHT = {check_epoch_iterations: named(by_divmod, by_loader)}


NAMED = {
    check_epoch_iterations: {
        "share rounded up": rounded(lambda examples, workers: math.ceil(examples / workers)),
        "share rounded down": rounded(lambda examples, workers: examples // workers),
        "workers ignored": rounded(lambda examples, workers: examples),
        "always one more": lambda n, b, drop, w: n // (w * b) if drop else n // (w * b) + 1,
        "batches of all workers": lambda n, b, drop, w: w * (n // w // b if drop else math.ceil(n / w / b)),
        "at least one": lambda n, b, drop, w: max(1, n // w // b) if drop else -(-n // (w * b)),
    }
}


UNKNOWN = {
    check_epoch_iterations: {
        "always 4": lambda *inputs: 4,
        "not whole": changed(iterations, lambda count: count + 0.25),
        "workers added": lambda n, b, drop, w: iterations(n, b + w - 1, drop),
        "drop_last for the shares alone": lambda n, b, drop, w: math.ceil(n // w / b),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
