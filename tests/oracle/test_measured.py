"""Against what the frameworks report: FLOPs module by module, tensors, shapes. Needs no framework.

The files of tests/data/oracle were measured with transformers 5.24.0 and torch 2.13.0, models built on the
meta device, eager attention: FLOPs by torch's FlopCounterMode (2·m·n·k for each matrix product, nothing
elementwise, the whole T×T square), tensors by name with the layer's index as `*`, module outputs at T = 128.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from words import ALIBI, BIASES, LAYERNORM, ROTARY, stack

import blockcalc
from blockcalc.config.presets import preset_names
from blockcalc.engine.stage import Group, Stage
from blockcalc.model import Model

DATA = Path(__file__).parents[1] / "data"
MEASURED: Mapping[str, Any] = {
    path.stem: json.loads(path.read_text("utf-8")) for path in sorted((DATA / "oracle").glob("*.json"))
}
PRESETS = sorted(set(MEASURED) & set(preset_names()))

# Published models that are a preset with other sizes.
RESIZED: Mapping[str, tuple[str, dict[str, Any]]] = {
    "mixtral-8x22b": ("mixtral-8x7b", {"d": 6144, "L": 56, "h": 48, "f_e": 16_384}),
    "mistral-7b-v0.3": ("mistral-7b", {"V": 32_768}),
    "mistral-large-2407": ("mistral-7b", {"d": 12_288, "L": 88, "h": 96, "f": 28_672, "V": 32_768}),
    "mistral-small-22b-2409": ("mistral-7b", {"d": 6144, "L": 56, "h": 48, "f": 16_384, "V": 32_768}),
    "pythia-31m": ("pythia-70m", {"d": 256}),
    "pythia-410m": ("pythia-70m", {"d": 1024, "L": 24, "h": 16}),
    "pythia-1b": ("pythia-70m", {"d": 2048, "L": 16}),
    "pythia-1.4b": ("pythia-70m", {"d": 2048, "L": 24, "h": 16}),
    "gpt-neox-20b": ("pythia-70m", {"d": 6144, "L": 44, "h": 64, "V": 50_432}),
}


def bloom(d: int, L: int, h: int) -> dict[str, Any]:
    attention = {"heads": h, "projections": "fused", "positions": ALIBI, **BIASES}
    ends = {"vocabulary": 250_880, "embedding_norm": LAYERNORM, "final_norm": LAYERNORM}
    return stack(d, L, attention=attention, feedforward=plain(4 * d, True), **ends)


def opt(d: int, L: int, h: int) -> dict[str, Any]:
    """Its table of positions begins with two rows that stand for padding."""
    ends = {"vocabulary": 50_272, "learned_positions": 2_050, "final_norm": LAYERNORM}
    return stack(d, L, attention={"heads": h, **BIASES}, feedforward=plain(4 * d, True), **ends)


def plain(f: int, bias: bool) -> dict[str, Any]:
    return {"kind": "mlp", "width": f, "bias": bias}


def olmoe() -> dict[str, Any]:
    """Queries and keys are normed over all heads at once."""
    rms = {"kind": "rmsnorm"}
    attention = {"heads": 16, "positions": ROTARY, "qk_norm": rms, "qk_norm_over": "width"}
    experts = {"kind": "moe", "experts": 64, "experts_per_token": 8, "width": 1024, "storage": "fused"}
    ends = {"vocabulary": 50_304, "tied_head": False, "final_norm": rms}
    return stack(2048, 16, attention=attention, feedforward=experts, norm=rms, **ends)


def falcon_180b() -> dict[str, Any]:
    attention = {"heads": 232, "kv_heads": 8, "projections": "fused", "positions": ROTARY}
    ends = {"vocabulary": 65_024, "final_norm": LAYERNORM}
    side_by_side = {"parallel": "two_norms"}
    return stack(14_848, 80, attention=attention, feedforward=plain(4 * 14_848, False), block=side_by_side, **ends)


def mpt_30b() -> dict[str, Any]:
    attention, norm = {"heads": 64, "projections": "fused", "positions": ALIBI}, {"kind": "layernorm"}
    ends = {"vocabulary": 50_432, "final_norm": norm}
    return stack(7168, 48, attention=attention, feedforward=plain(4 * 7168, False), norm=norm, **ends)


def phi_4() -> dict[str, Any]:
    rms = {"kind": "rmsnorm"}
    attention = {"heads": 40, "kv_heads": 10, "projections": "fused", "positions": ROTARY}
    feedforward = {"kind": "mlp", "width": 17_920, "gated": True, "storage": "fused"}
    ends = {"vocabulary": 100_352, "tied_head": False, "final_norm": rms}
    return stack(5120, 40, attention=attention, feedforward=feedforward, norm=rms, **ends)


def starcoder2_15b() -> dict[str, Any]:
    attention = {"heads": 48, "kv_heads": 4, "window": 4096, "positions": ROTARY, **BIASES}
    ends = {"vocabulary": 49_152, "tied_head": False, "final_norm": LAYERNORM}
    return stack(6144, 40, attention=attention, feedforward=plain(4 * 6144, True), **ends)


def gpt_neo_125m() -> dict[str, Any]:
    """Every second layer has a window of 256; q, k and v have no biases."""
    kinds = {}
    for name, window in (("global", {}), ("local", {"window": 256})):
        attention = {"heads": 12, "out_bias": True, "scale": 1.0, **window}
        kinds[name] = {"attention": attention, "feedforward": plain(3072, True), "norm": LAYERNORM}
    ends = {"vocabulary": 50_257, "learned_positions": 2048, "final_norm": LAYERNORM}
    whole = stack(768, 12, attention={"heads": 12}, pattern={"cycle": ["global", "local"]}, **ends)
    return {**whole, "blocks": kinds}


# Published models of families without a preset, in the grammar's words.
WRITTEN: Mapping[str, dict[str, Any]] = {
    "bloom-560m": bloom(1024, 24, 16),
    "bloom-176b": bloom(14_336, 70, 112),
    "opt-125m": opt(768, 12, 12),
    "opt-13b": opt(5120, 40, 40),
    "olmoe-1b-7b": olmoe(),
    "falcon-180b": falcon_180b(),
    "mpt-30b": mpt_30b(),
    "phi-4": phi_4(),
    "starcoder2-15b": starcoder2_15b(),
    "gpt-neo-125m": gpt_neo_125m(),
}

NAMED_ALIKE = [name for name in MEASURED if name not in WRITTEN]
"""Models whose tensors have the framework's names: all but those of families without a table of names."""


def model(name: str) -> Model:
    """The model under that name of the data."""
    if name in WRITTEN:
        return blockcalc.load(WRITTEN[name])
    preset, sizes = RESIZED.get(name, (name, {}))
    return blockcalc.load(preset, **sizes)


def stored_tensors(name: str) -> dict[str, list[list[Any]]]:
    """Framework's name -> [shape, count] of each shape that goes by it."""
    record = MEASURED[name]
    if "tensors" not in record:
        record = json.loads((DATA / "tensors" / f"{name}.json").read_text("utf-8"))
    tensors: dict[str, list[list[Any]]] = record["tensors"]
    return tensors


def test_every_measured_model_is_tested() -> None:
    assert set(MEASURED) == {*PRESETS, *RESIZED, *WRITTEN}
    assert len(PRESETS) >= 20


@pytest.mark.parametrize("name", MEASURED)
def test_total(name: str) -> None:
    assert model(name).params().totals.stored == MEASURED[name]["total"]


@pytest.mark.parametrize("name", MEASURED)
def test_forward_flops(name: str) -> None:
    for T, measured in MEASURED[name]["flops"].items():
        assert model(name).flops(B=1, T=int(T)).totals.forward == measured["total"]


@pytest.mark.parametrize("name", NAMED_ALIKE)
def test_tensors_by_name(name: str) -> None:
    found: dict[str, list[list[Any]]] = {}
    tied = []
    for row in model(name).params(by="tensor").rows:
        if row.tied_to is None:
            found.setdefault(row.name, []).append([list(row.shape), row.count])
        else:
            tied.append(row.name)
    assert found == stored_tensors(name)
    assert tied == MEASURED[name]["tied"]


@pytest.mark.parametrize("name", WRITTEN)
def test_tensors_by_shape(name: str) -> None:
    """How many tensors there are of each shape; matrices whichever way round they lie."""
    found: Counter[tuple[int, ...]] = Counter()
    for row in model(name).params(by="tensor").rows:
        if row.tied_to is None:
            found[tuple(sorted(row.shape))] += row.count
    expected: Counter[tuple[int, ...]] = Counter()
    for entries in stored_tensors(name).values():
        for shape, count in entries:
            expected[tuple(sorted(shape))] += count
    assert found == expected


def module_of(stage: Stage, group: Group) -> str:
    """The framework's module that a stage runs in: its weight's name, or for scores the module of the projections."""
    if stage.weights:
        return stage.weights[0].stored_as.rpartition(".")[0]
    out = next(s for s in group.stages if s.path.endswith("attention.out"))
    return module_of(out, group).rpartition(".")[0]


@pytest.mark.parametrize("name", NAMED_ALIKE)
def test_flops_by_module(name: str) -> None:
    """Each module's FLOPs are those of the stages that run in it or below it."""
    found = model(name)
    derivation = found.derivation
    homes = {stage.path: module_of(stage, g) for g in derivation.groups for stage in g.stages if stage.flops}
    for T, measured in MEASURED[name]["flops"].items():
        rows = [row for row in found.flops(B=1, T=int(T)).rows if row.kind == "matrix"]
        for module, flops in measured["modules"].items():
            inside = [row.value for row in rows if f"{homes[row.path]}.".startswith(f"{module}.")]
            assert sum(inside) == flops, module


@pytest.mark.parametrize("name", NAMED_ALIKE)
def test_shapes_of_modules_with_weights(name: str) -> None:
    """What such a module returns is what its stage writes; heads may stand on either side of the positions."""
    found, shapes = model(name), MEASURED[name]["shapes"]
    rows = {row.path: list(row.shape) for row in found.shapes(B=1, T=128).rows}
    compared = 0
    for group in found.derivation.groups:
        for stage in group.stages:
            if stage.weights and "experts" not in stage.path:
                module = module_of(stage, group)
                if module in shapes and "router" not in stage.path:
                    assert without_ones(shapes[module][0]) == without_ones(rows[stage.path]), module
                    compared += 1
    assert compared >= 6


@pytest.mark.parametrize("name", MEASURED)
def test_shapes_of_all_modules(name: str) -> None:
    """Whatever a module returns is the shape of some stage, but for axes of one and the order of axes."""
    found = model(name)
    rows = [without_ones(row.shape) for row in found.shapes(B=1, T=128).rows]
    routed = any(".experts" in row.path for row in found.params(by="tensor").rows)
    for module, shapes in MEASURED[name]["shapes"].items():
        if "rotary" not in module and not (routed and ".mlp" in module):
            for shape in shapes:
                assert without_ones(shape) in rows, (module, shape)


def without_ones(shape: Sequence[int]) -> list[int]:
    return sorted(size for size in shape if size != 1)
