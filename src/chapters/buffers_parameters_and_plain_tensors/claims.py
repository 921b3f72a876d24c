"""The checks of the chapter, a function for each place where its page says how many hold."""

import copy
import pickle

import torch
from torch import nn

from attnlab.masks import causal
from attnlab.positions import SinusoidalPositions, sinusoidal
from attnlab.runtime import generator
from bookkit.claims import claim
from chapters.buffers_parameters_and_plain_tensors import charts
from chapters.buffers_parameters_and_plain_tensors.battery import model_with
from chapters.buffers_parameters_and_plain_tensors.charts import KINDS


def five_ways_look_alike(module, table):
    same = all(torch.equal(getattr(module, kind), table) for kind in KINDS)
    claim("all five hold the same numbers", same)
    claim("entries in the state_dict", len(module.state_dict()), expected=3)
    try:
        module.parameter = table
        refused = False
    except TypeError:
        refused = True
    claim("PyTorch refuses a mere tensor under a parameter's name", refused)


def half_a_page_does_the_same(TinyModule, state_dict, change_all, hold_five_ways, table):
    module = hold_five_ways(nn.Module(), table)
    tiny = hold_five_ways(TinyModule(), table)
    same = list(state_dict(tiny)) == list(module.state_dict())
    claim("TinyModule's state_dict has PyTorch's entries", same)
    change_all(tiny, lambda tensor: tensor.double())
    module.double()
    held = tiny.__dict__ | tiny.parameters | tiny.buffers
    same = all(held[kind].dtype == getattr(module, kind).dtype for kind in KINDS)
    claim("after .double(), all five have the dtypes that PyTorch gives them", same)
    still = all(isinstance(each, nn.Parameter) for each in tiny.parameters.values())
    claim("its parameters are Parameters still", still)
    claim("the plain tensor is still float32", tiny.plain.dtype == torch.float32)


def refuses(operation):
    try:
        operation(torch.ones(3, 2, device="meta"))
        return False
    except (RuntimeError, AssertionError):  # the second from a PyTorch without CUDA
        return True


def meta_has_no_numbers(scores):
    raised = map(refuses, (torch.nonzero, torch.unique, torch.Tensor.item))
    claim("nonzero, unique and item() raise on meta", all(raised))
    claim("a matrix product does not", not refuses(lambda tensor: tensor.mT @ tensor))
    met = scores * torch.tensor(0.5)
    claim("a single number from the CPU may meet a meta tensor", met.is_meta)


def who_moves(second_devices, moved_to, answers):
    agree = all(moved_to(other) == answers[".to(device)"] for other in second_devices)
    claim("every second device that this machine has gives the same answer", agree)


def lines_that_do_nothing(CausalWeights, table):
    mask = CausalWeights(4).half().to("meta").mask
    still = mask.is_meta and mask.dtype == torch.bool
    claim("after .half() a mask is still one, and moves", still)
    by_hand = causal(4)[0]
    claim("by hand, on one device: no copy", by_hand.to(by_hand.device) is by_hand)
    table.to("meta")
    claim("tensor.to(…), thrown away: nothing happened", table.device.type == "cpu")
    worked = not refuses(lambda tensor: torch.zeros(1).cuda())
    claim(".cuda() works just where there is a GPU", worked == torch.cuda.is_available())


def what_decay_leaves(lengths, trained_model, tables):
    before = tables["the table"]
    left = lengths["AdamW"][20:] / lengths["the table"][20:]
    claim("AdamW: least left of a row never read", left.min(), expected=0.905, abs=5e-4)
    loss_words = 2 * torch.rand(64, 20, 16, generator=generator(3), dtype=torch.float64) - 1
    loss = (trained_model(loss_words) - loss_words).square().mean()
    # Over ten other draws: 7e-7 to 1.1e-6.
    claim("AdamW: the loss at the end", loss, at_most=1e-5)

    claim("AdamW: most left of a row never read", left.max(), expected=0.905, abs=5e-4)
    after_more = (1 - 0.01 * 0.01) ** 10_000
    claim("the same after ten times the steps", after_more, expected=0.368, abs=5e-4)
    untouched = torch.equal(tables["Adam"][20:], before[20:])
    claim("Adam, which has no decay, leaves rows that are never read alone", untouched)

    longest = max(lengths[name][:20].max() for name in ("AdamW", "Adam"))
    claim("rows that are read, longest after over before", longest / 8**0.5, at_most=0.8)
    nearest, apart = torch.pdist(before[:20]).min(), torch.pdist(tables["AdamW"][:20]).max()
    claim("before: how near two of the 20 rows come", nearest, at_least=1)
    # Over ten other draws of the words and the layer: .0015-.0020.
    claim("after: how far apart two of the 20 rows are, at most", apart, at_most=0.004)
    linear, same_row = trained_model.linear, tables["AdamW"][:20].mean(0)
    rest = linear(same_row).abs().max()
    claim("what the linear layer leaves of that row, largest", rest, at_most=0.003)
    claim("how long that row is", same_row.norm(), at_least=0.5)


def an_odd_buffer():
    module = nn.Module()
    module.register_buffer("odd", torch.ones(3, requires_grad=True))
    module.odd.sum().backward()
    claim("a buffer can have a gradient", module.odd.grad.sum(), expected=3)
    claim("once moved or changed, it keeps none", not module.double().odd.is_leaf)
    claim("and is no parameter for that", len(list(module.parameters())), expected=0)


def megabytes_of_files(large, sizes):
    without, with_table, sliced, cloned = sizes.values()
    claim("how many times larger", with_table / without, expected=10.7, abs=0.05)
    claim("50 rows, sliced off: MB of the file", sliced - without, expected=10.24, abs=0.01)
    claim("bytes a number", large.element_size(), expected=4)
    claim("the file without the table, in MB", without, expected=1.05, abs=0.01)
    claim("the file with the table, in MB", with_table, expected=11.29, abs=0.01)
    claim("their difference, in MB", with_table - without, expected=10.24, abs=0.01)
    claim(
        "the table's share of the file", 1 - without / with_table, expected=0.907, abs=0.005
    )
    claim("50 rows, cloned: MB of the file", cloned - without, expected=0.1, abs=0.01)


def a_whole_model_is_refused(file):
    file.seek(0)
    try:
        torch.load(file)  # weights_only=True is the default since PyTorch 2.6
        refused = False
    except pickle.UnpicklingError:
        refused = True
    claim("torch.load refuses a whole model", refused)


def statistics_that_training_found():
    norm = nn.BatchNorm1d(4, dtype=torch.float64)
    source = generator(2)
    for _ in range(200):
        norm(
            2 + 2 * torch.rand(64, 4, generator=source, dtype=torch.float64)
        )  # from 2 to 4
    forgetful = nn.BatchNorm1d(4, dtype=torch.float64)
    learned = {
        name: tensor
        for name, tensor in norm.state_dict().items()
        if name in ("weight", "bias")
    }
    forgetful.load_state_dict(learned, strict=False)
    inputs = 2 + 2 * torch.rand(1000, 4, generator=source, dtype=torch.float64)
    # Over ten other draws: means of -.053 to .053, and of 2.985 to 3.021.
    mean = norm.eval()(inputs).mean()
    claim(
        "batch norm with its running statistics: mean of the output",
        mean,
        expected=0,
        abs=0.1,
    )
    mean = forgetful.eval()(inputs).mean()
    claim("batch norm without them: mean of the output", mean, expected=3, abs=0.1)


def another_length(complaint, longer, trained, message):
    loose = complaint(longer, trained, strict=False)
    claim("strict=False makes no difference to a wrong shape", loose == message)
    old_file, model = nn.Module(), nn.Module()
    old_file.register_buffer("table", sinusoidal(512, 16))
    model.register_buffer("table", sinusoidal(1024, 16), persistent=False)
    claim(
        "an entry too many is refused",
        "Unexpected" in complaint(model, old_file.state_dict()),
    )
    loaded = complaint(model, old_file.state_dict(), strict=False) == ""
    claim("strict=False forgives the entry that is one too many", loaded)
    claim(
        "and the longer table is as it was", torch.equal(model.table, sinusoidal(1024, 16))
    )


def whose_mask_wins(survivors, altered, fresh):
    claim("persistent: the file's mask wins", torch.equal(survivors["persistent"], altered))
    claim("persistent=False: the code's wins", torch.equal(survivors["not"], fresh))
    kept, by_code = nn.Module(), nn.Module()
    kept.mask = nn.Parameter(altered.clone(), requires_grad=False)
    by_code.mask = nn.Parameter(fresh.clone(), requires_grad=False)
    by_code.load_state_dict(kept.state_dict())
    claim(
        "a frozen parameter: the file's mask wins as well",
        torch.equal(by_code.mask, altered),
    )


def the_chart_is_what_was_found(answers):
    found = {operation: answers[operation] for operation in charts.FOLLOWS}
    claim("the chart shows what this notebook found", found == charts.FOLLOWS)


def counted_as_parameters(large):
    rows, width = 5000, 512  # of the table
    model = model_with(large, persistent=True)
    count = sum(parameter.numel() for parameter in model.parameters())
    claim(
        "the table in a buffer: 262,656 parameters are counted",
        count == width * width + width,
    )
    model.as_parameter = nn.Parameter(large, requires_grad=False)
    more = sum(parameter.numel() for parameter in model.parameters())
    claim("in a frozen parameter: 2,822,656 are", more == count + rows * width == 2_822_656)


def no_drawer_opens_for_a_list(table):
    module = nn.Module()
    module.tables = [nn.Parameter(table), table]
    claim("in a list: entries in the state_dict", len(module.state_dict()), expected=0)
    claim("in a list: parameters", len(list(module.parameters())), expected=0)


def half_a_table():
    exact = sinusoidal(5000, 16, dtype=torch.float64)
    finished = {
        dtype: exact.to(dtype).double() for dtype in (torch.float16, torch.bfloat16)
    }
    positions = torch.arange(5000, dtype=torch.bfloat16).unsqueeze(-1)  # (5000, 1)
    frequencies = 10000.0 ** (-torch.arange(0, 16, 2, dtype=torch.float64) / 16)  # (8,)
    angles = (positions * frequencies.bfloat16()).double()  # (5000, 8), eight digits each
    computed = torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)  # (5000, 16)
    off = (computed.bfloat16().double() - exact).abs().amax(-1)  # (5000,)

    error = {dtype: (each - exact)[4999].abs().max() for dtype, each in finished.items()}
    units = error[torch.float16] * 2**12, error[torch.bfloat16] * 2**9
    claim("finished, position 4999: errors in 2**-12 and 2**-9", max(units), at_most=1)
    claim("bfloat16 counts: 256 + 1 is", positions[256] + 1, expected=256)
    claim("computed in bfloat16, position 1024: error", off[1024], expected=0.17, abs=0.01)
    claim("computed in bfloat16, position 4999: error", off[4999], expected=1.3, abs=0.05)
    angle = 1024 * frequencies.bfloat16().double()
    by_frequencies = torch.stack((angle.sin(), angle.cos()), dim=-1).flatten() - exact[1024]
    claim("bfloat16 holds 1024", torch.tensor(1024).bfloat16(), expected=1024)
    error = by_frequencies.abs().max()
    claim("only the frequencies rounded: the same error", error, expected=0.17, abs=0.01)


def made_anew():
    exact = sinusoidal(5000, 16, dtype=torch.float64)
    plain_buffer, ours = nn.Module(), SinusoidalPositions(16)
    plain_buffer.register_buffer("table", sinusoidal(5000, 16), persistent=False)

    def furthest(module):
        return (module.table.double() - exact).abs().max()

    # What is left in a buffer is float16's rounding error, 2⁻¹² at most; in ours float32's.
    for_good, made_anew = (
        furthest(plain_buffer.half().float()),
        furthest(ours.half().float()),
    )
    claim("a buffer after .half().float(): error", for_good, at_least=1e-4, at_most=2.5e-4)
    claim("the same with attnlab's module", made_anew, at_most=4e-7)
    plain_buffer.to("meta").to_empty(device="cpu")
    # NaN, because prepare() asks PyTorch for the same result at every run.
    claim("a buffer after to_empty is NaN", plain_buffer.table.isnan().all().item())
    ours.to("meta").to_empty(device="cpu")
    claim("attnlab's after to_empty: error", furthest(ours), at_most=4e-7)


def six_layers_one_table(device):
    layers = nn.ModuleList(nn.Module() for _ in range(6))
    shared, tied = sinusoidal(100, 16), nn.Parameter(torch.ones(16))
    for layer in layers:
        layer.register_buffer("table", shared, persistent=False)
        layer.weight = tied
    claim(
        "tables of six layers, in memory, at first", len(list(layers.buffers())), expected=1
    )
    layers.half()
    claim("and after .half()", len(list(layers.buffers())), expected=6)
    claim("tied parameters after .half()", len(list(layers.parameters())), expected=1)
    claim(
        "though the state_dict names them six times", len(layers.state_dict()), expected=6
    )
    cut = copy.deepcopy(layers).to("meta")
    claim("tied parameters, moved to meta", len(list(cut.parameters())), expected=6)
    for layer in cut:
        layer.weight = cut[0].weight
    apart = len(list(cut.to_empty(device="cpu").parameters()))
    claim("tied on meta, and given memory", apart, expected=6)
    layers.to(device)  # the GPU, where there is one
    claim("moved to this notebook's device", len(list(layers.parameters())), expected=1)


def buffers_of_pytorch(table):
    by_name, by_assignment = nn.Module(), nn.Module()
    by_name.register_buffer("table", table, persistent=False)
    by_assignment.table = nn.Buffer(table, persistent=False)  # since PyTorch 2.5
    same = [name for name, _ in by_assignment.named_buffers()] == ["table"]
    same = same and list(by_assignment.state_dict()) == list(by_name.state_dict()) == []
    claim("nn.Buffer puts it in the same drawer as register_buffer", same)
    buffers = list(nn.MultiheadAttention(16, 4).buffers())
    claim("buffers in nn.MultiheadAttention", len(buffers), expected=0)
