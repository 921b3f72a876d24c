"""One of several processes that train a model.

`torchrun --nproc-per-node=2 -m attnlab.training.distributed_worker .` starts this file once a process, and
says through the environment which one it is. Each writes there what it saw.
"""

import os
import sys
from pathlib import Path

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from attnlab.runtime import choose_device

EPOCHS, BATCH_SIZE, RATE = 2, 500, 0.1  # BATCH_SIZE is what one process reads at a time


def main(folder: Path) -> None:
    """`main(Path("."))` reads start.pt, trains, and writes 0.pt or 1.pt, … by its number."""
    names = ("RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE")
    rank, local_rank, local_workers = (int(os.environ[name]) for name in names)
    gpus = torch.cuda.device_count() if choose_device().type == "cuda" else 0
    a_gpu_each = gpus >= local_workers
    device = torch.device("cuda", local_rank) if a_gpu_each else torch.device("cpu")
    if a_gpu_each:
        torch.cuda.set_device(device)  # else each process would take some of the first GPU's memory
        distributed.init_process_group("nccl", device_id=device)
    else:
        distributed.init_process_group("gloo")

    start = torch.load(folder / "start.pt", map_location=device)
    hidden = [nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU()]
    network = nn.Sequential(*hidden, nn.Linear(64, 2)).double().to(device)
    network.load_state_dict(start["weights"])
    model = DistributedDataParallel(network)
    cross_entropy = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)

    number = torch.arange(len(start["labels"]))  # of each example, to report who read which
    data = TensorDataset(number, start["points"], start["labels"])
    sampler: DistributedSampler[int] = DistributedSampler(data)  # this process's share
    loader = DataLoader(data, batch_size=BATCH_SIZE, sampler=sampler)

    seen, losses, gradients = [], [], []
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)  # another order in each epoch
        for numbers, points, labels in loader:
            loss = cross_entropy(model(points), labels)
            optimizer.zero_grad()
            loss.backward()  # in here the processes average their gradients
            optimizer.step()
            # For the log: this process knows only the loss of its own batch.
            mean_loss = loss.detach().clone()
            distributed.all_reduce(mean_loss)  # the sum over all processes
            losses.append(mean_loss / distributed.get_world_size())
            seen.append(numbers)
            gradients.append([weight.grad for weight in network.parameters()])

    report = {"seen": seen, "losses": losses, "gradients": gradients}
    torch.save(report | {"weights": network.state_dict()}, folder / f"{rank}.pt")
    distributed.barrier()  # nobody leaves while another still needs an answer
    distributed.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
    # All is saved. Gloo's threads can crash while Python tidies up, so leave without that.
    os._exit(0)
