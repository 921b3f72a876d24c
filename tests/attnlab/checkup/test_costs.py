"""What it costs to examine a model: calls of it, and memory beside that of a step of its training."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from attnlab.checkup import checkup
from attnlab.transformer import GPT, Transformer
from bookkit.memory import peak_memory

CPU = torch.device("cpu")


def a_gpt(vocabulary=8000, d_model=256, layers=10):
    model = GPT(vocabulary, d_model, heads=8, layers=layers, context=128)
    return model, (torch.randint(vocabulary, (8, 64)),), {}


def a_translator():
    model = Transformer(6000, 6000, d_model=256, heads=8, hidden=1024, layers=4, dropout=0.1)
    lengths = torch.tensor([40, 30, 20, 35, 40, 12, 9, 33])
    source = torch.randint(1, 6000, (8, 40)).masked_fill(torch.arange(40) >= lengths[:, None], 0)
    return model, (source, lengths, torch.randint(1, 6000, (8, 36))), {"padding": 0}


def a_llama():
    import transformers

    sizes = {"vocab_size": 8000, "hidden_size": 256, "intermediate_size": 688, "num_hidden_layers": 8}
    sizes |= {"num_attention_heads": 8, "num_key_value_heads": 4, "max_position_embeddings": 256}
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes))
    return model, (torch.randint(4, 8000, (8, 64)),), {}


LARGE = {"a GPT": a_gpt, "a translator": a_translator, "Hugging Face's Llama": a_llama}


def step_of(model, batch):
    """One step of training, from nothing: gradients, and what Adam keeps."""
    optimizer = torch.optim.AdamW(model.parameters())
    output = model(*batch)
    logits = getattr(output, "logits", output)
    F.cross_entropy(logits[:, :-1].flatten(0, 1), batch[-1][:, 1:].flatten()).backward()
    optimizer.step()
    optimizer.zero_grad()


def memory_beside_a_step(model, batch, options):
    """The model's own weights count to neither."""
    step = peak_memory(lambda: step_of(model, batch), CPU)
    return peak_memory(lambda: checkup(model, batch, **options), CPU) / step


def test_memory_is_at_most_that_of_three_steps_of_training():
    torch.manual_seed(0)
    assert memory_beside_a_step(*a_gpt(2000, 64, 4)) < 3


@pytest.mark.thorough
@pytest.mark.parametrize("name", LARGE)
def test_ten_million_weights_take_few_calls_and_no_more_memory_than_three_steps(name):
    torch.manual_seed(0)
    model, batch, options = LARGE[name]()
    assert 9e6 < sum(weight.numel() for weight in model.parameters()) < 13e6
    calls = []
    watched = nn.modules.module.register_module_forward_pre_hook(
        lambda module, _: calls.append(1) if type(module) is type(model) else None
    )
    with watched:
        report = checkup(model, batch, **options)
    assert len(calls) < 70
    assert not report.findings
    assert memory_beside_a_step(model, batch, options) < 3
