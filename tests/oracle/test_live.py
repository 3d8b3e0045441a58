"""Against the frameworks themselves: tiny random models of each family, built and run on the spot.

Needs torch and transformers (extra `oracle`); without them these tests are skipped.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import blockcalc
from blockcalc.model import Model
from blockcalc.reference import forward

torch = pytest.importorskip("torch", reason="torch isn't installed: the extra oracle has it")
transformers = pytest.importorskip("transformers", reason="transformers isn't installed: the extra oracle has it")
flop_counter = pytest.importorskip("torch.utils.flop_counter")

FAMILIES = ("gpt2", "llama", "qwen2", "qwen3")
SEEDS = range(8)


def config_of(family: str, seed: int) -> Any:
    """A tiny configuration with random sizes and choices."""
    draw = random.Random(f"{family} {seed}")
    heads, d_h = draw.choice([(4, 8), (6, 4), (2, 16)]), draw.choice([None, 10, 12])
    common = {"vocab_size": draw.choice([61, 64, 97]), "tie_word_embeddings": draw.choice([True, False])}
    if family == "gpt2":
        sizes = {"n_embd": heads[0] * heads[1], "n_head": heads[0], "n_layer": draw.randint(1, 3), "n_positions": 32}
        sizes["n_inner"] = draw.choice([None, 50])
        return transformers.AutoConfig.for_model(family, **common, **sizes)
    sizes = {
        "hidden_size": heads[0] * heads[1],
        "num_attention_heads": heads[0],
        "num_key_value_heads": draw.choice([n for n in range(1, heads[0] + 1) if heads[0] % n == 0]),
        "intermediate_size": draw.choice([40, 52]),
        "num_hidden_layers": draw.randint(1, 3),
        "max_position_embeddings": 64,
    }
    if family in ("llama", "qwen3"):
        sizes["attention_bias"] = draw.choice([True, False])
        sizes["head_dim"] = d_h or heads[1]
    if family == "llama":
        sizes["mlp_bias"] = draw.choice([True, False])
    if family in ("qwen2", "qwen3") and draw.choice([True, False]):
        sizes |= {"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1}
    return transformers.AutoConfig.for_model(family, **common, **sizes)


@pytest.fixture(scope="module", params=[(family, seed) for family in FAMILIES for seed in SEEDS], ids=str)
def both(request: pytest.FixtureRequest) -> Iterator[tuple[Any, Model]]:
    """The framework's model with random weights in float64, and ours of the same configuration."""
    family, seed = request.param
    config = config_of(family, seed)
    torch.manual_seed(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        config._attn_implementation = "eager"
        theirs = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").double().eval()
        for parameter in theirs.parameters():  # gains of one and biases of zero would hide what they do
            torch.nn.init.normal_(parameter, std=0.3)
        for module in theirs.modules():
            if hasattr(module, "inv_freq"):  # computed in float32 by the framework
                pairs = torch.arange(len(module.inv_freq), dtype=torch.float64) / len(module.inv_freq)
                module.inv_freq = config.rope_parameters["rope_theta"] ** -pairs
        yield theirs, blockcalc.load(config.to_dict())


def starred(name: str) -> str:
    """A parameter's name with `*` for the layer."""
    return ".".join("*" if part.isdigit() else part for part in name.split("."))


def test_parameters_by_name(both: tuple[Any, Model]) -> None:
    theirs, ours = both
    expected: dict[tuple[str, tuple[int, ...]], int] = {}
    for name, parameter in theirs.named_parameters():
        key = starred(name), tuple(parameter.shape)
        expected[key] = expected.get(key, 0) + 1
    rows = ours.params(by="tensor").rows
    assert {(row.name, tuple(row.shape)): row.count for row in rows if row.tied_to is None} == expected
    stored = sum(parameter.numel() for parameter in theirs.parameters())
    assert ours.params().totals.stored == stored
    assert sum(tensor.numel() for tensor in theirs.state_dict().values()) == ours.params().totals.state_dict
    assert [row.name for row in rows if row.tied_to] == ["lm_head.weight"] * theirs.config.tie_word_embeddings


@pytest.mark.parametrize(("B", "T"), [(1, 5), (2, 8)])
def test_flops(both: tuple[Any, Model], B: int, T: int) -> None:
    theirs, ours = both
    with flop_counter.FlopCounterMode(display=False) as counter, torch.no_grad():
        theirs(torch.zeros((B, T), dtype=torch.long), use_cache=False)
    assert ours.flops(B=B, T=T).totals.forward == counter.get_total_flops()


def test_training_flops(both: tuple[Any, Model]) -> None:
    """Forward and backward: the gradient of both factors of each product makes the backward pass twice the forward."""
    theirs, ours = both
    with flop_counter.FlopCounterMode(display=False) as counter:
        theirs(torch.zeros((2, 6), dtype=torch.long), use_cache=False).logits.sum().backward()
    theirs.zero_grad()
    assert ours.flops(B=2, T=6).totals.training == counter.get_total_flops()


def test_shapes(both: tuple[Any, Model]) -> None:
    """What each module returns is the shape of a stage, but for the order of axes and for rotary tables."""
    theirs, ours = both
    seen: list[tuple[str, tuple[int, ...]]] = []

    def note(name: str) -> Any:
        def hook(module: Any, inputs: Any, output: Any) -> None:
            tensors = output if isinstance(output, tuple) else (output,)
            seen.extend((name, tuple(t.shape)) for t in tensors if isinstance(t, torch.Tensor))

        return hook

    modules = [(name, module) for name, module in theirs.named_modules() if "rotary" not in name]
    hooks = [module.register_forward_hook(note(name)) for name, module in modules]
    with torch.no_grad():
        theirs(torch.zeros((3, 7), dtype=torch.long), use_cache=False)
    for hook in hooks:
        hook.remove()
    stages = [sorted(n for n in row.shape if n != 1) for row in ours.shapes(B=3, T=7).rows]
    assert len(seen) > 8
    for name, shape in seen:
        assert sorted(n for n in shape if n != 1) in stages, (name, shape)


def test_logits(both: tuple[Any, Model]) -> None:
    """The numpy pass with the framework's weights, in float64 throughout."""
    theirs, ours = both
    weights = {name: tensor.numpy() for name, tensor in theirs.state_dict().items()}
    ids = torch.arange(14).reshape(2, 7) * 5 % theirs.config.vocab_size
    with torch.no_grad(), in_float64():
        expected = theirs(ids, use_cache=False).logits.numpy()
    found = forward(ours, weights, ids.numpy())
    assert found.logits is not None
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found.logits / scale, expected / scale, rtol=1e-9, atol=1e-9)
    assert 2 * sum(found.multiply_adds.values()) == ours.flops(B=2, T=7).totals.forward


class in_float64:  # noqa: N801
    """Norms, softmax and rotary tables of the framework without their casts to float32."""

    def __enter__(self) -> None:
        self._patch = pytest.MonkeyPatch()
        to, softmax = torch.Tensor.to, torch.nn.functional.softmax
        single = (torch.float32, torch.float)

        def kept(tensor: Any, *args: Any, **options: Any) -> Any:
            if options.get("dtype") in single:
                options["dtype"] = torch.float64
            return to(tensor, *(torch.float64 if arg in single and arg is not None else arg for arg in args), **options)

        def wide(tensor: Any, *args: Any, **options: Any) -> Any:
            if options.get("dtype") in single:
                options["dtype"] = torch.float64
            return softmax(tensor, *args, **options)

        self._patch.setattr(torch.Tensor, "to", kept)
        self._patch.setattr(torch.Tensor, "float", torch.Tensor.double)
        self._patch.setattr(torch.nn.functional, "softmax", wide)

    def __exit__(self, *reason: object) -> None:
        self._patch.undo()
