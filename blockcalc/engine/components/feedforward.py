"""The feed-forward part: a plain or gated pair of matrices, or a mixture of experts."""

from __future__ import annotations

from collections.abc import Iterator

from blockcalc.config.parts import Mlp, Moe
from blockcalc.engine.components.scope import Scope, add_stage, linear_stage, view_stage
from blockcalc.engine.stage import Stage


def feedforward_stages(at: Scope, part: Mlp | Moe, reads: str) -> Iterator[Stage]:
    """The feed-forward part from the (normed) stream [B, T, d] to its output [B, T, d]."""
    if isinstance(part, Mlp):
        yield from _mlp_stages(at, part, "feedforward", "f", reads)
    else:
        yield from _moe_stages(at, part, reads)


def _mlp_stages(at: Scope, part: Mlp | Moe, name: str, width: str, reads: str) -> Iterator[Stage]:
    """Up (and gate), activation, down, for every token: [B, T, d] -> [B, T, width] -> [B, T, d]."""
    inner: list[Stage] = []
    for matrix in _inner_matrices(part):
        axis = f"2{width}" if matrix == "gate_up" else width
        path = f"{name}.{matrix}"
        inner.append(linear_stage(at, path, path, f"B T d, {axis} d -> B T {axis}", reads, bias=part.bias))
    yield from inner
    yield _hidden_stage(at, part, f"{name}.hidden", f"B T {width}", inner)
    path, hidden = f"{name}.out", at.path(f"{name}.hidden")
    yield linear_stage(at, path, path, f"B T {width}, d {width} -> B T d", hidden, bias=part.bias)


def _moe_stages(at: Scope, part: Moe, reads: str) -> Iterator[Stage]:
    """Router, the k chosen experts of each token, their weighted sum, and what all tokens share."""
    yield from _router_stages(at, part, reads)
    yield from _expert_stages(at, part, reads)
    last = at.path("feedforward.combined")
    experts = (at.path("feedforward.experts.out"), at.path("feedforward.chosen"))
    over = at.axes("B T k d")
    yield Stage(last, "pointwise", experts, at.axes("B T d"), pointwise=("combine",), over=over)
    if part.shared_width is not None:
        yield from _mlp_stages(at, part, "feedforward.shared", "f_s", reads)
        yield add_stage(at, "feedforward.sum", last, at.path("feedforward.shared.out"))


def _router_stages(at: Scope, part: Moe, reads: str) -> Iterator[Stage]:
    path, probabilities = "feedforward.router", at.path("feedforward.probabilities")
    yield linear_stage(at, path, path, "B T d, E d -> B T E", reads, bias=part.router_bias)
    yield Stage(probabilities, "pointwise", (at.path(path),), at.axes("B T E"), pointwise=("softmax",))
    chosen, out = at.path("feedforward.chosen"), at.axes("B T k")
    if part.normalised:
        yield Stage(chosen, "pointwise", (probabilities,), out, pointwise=("rescale",))
    else:
        yield view_stage(at, "feedforward.chosen", "B T k", probabilities)


def _expert_stages(at: Scope, part: Moe, reads: str) -> Iterator[Stage]:
    inner = []
    for matrix in _inner_matrices(part):
        axis = "2f_e" if matrix == "gate_up" else "f_e"
        spec = f"B T d, k {axis} d -> B T k {axis}"
        inner.append(_routed_stage(at, f"feedforward.experts.{matrix}", spec, reads, bias=part.bias))
    yield from inner
    yield _hidden_stage(at, part, "feedforward.experts.hidden", "B T k f_e", inner)
    hidden = at.path("feedforward.experts.hidden")
    spec = "B T k f_e, k d f_e -> B T k d"
    yield _routed_stage(at, "feedforward.experts.out", spec, hidden, bias=part.bias)


def _routed_stage(at: Scope, name: str, spec: str, reads: str, *, bias: bool) -> Stage:
    """A matrix of each of E experts, of which a token meets k: stored [E, out, in], multiplied k times."""
    operation = at.contract(spec)
    stored = spec.partition(",")[2].partition("->")[0].split()[1:]
    routed = at.letter("k")
    weights = [at.weight(f"{name}.weight", f"E {' '.join(stored)}", "matrix", routed=routed)]
    if bias:
        weights.append(at.weight(f"{name}.bias", f"E {stored[0]}", "bias", routed=routed))
    return Stage(at.path(name), "contraction", (reads,), operation.out, operation, weights=tuple(weights))


def _inner_matrices(part: Mlp | Moe) -> tuple[str, ...]:
    if not part.gated:
        return ("up",)
    return ("gate_up",) if part.storage == "fused" else ("gate", "up")


def _hidden_stage(at: Scope, part: Mlp | Moe, name: str, out: str, inner: list[Stage]) -> Stage:
    functions = ("activation", "multiply") if part.gated else ("activation",)
    return Stage(at.path(name), "pointwise", tuple(s.path for s in inner), at.axes(out), pointwise=functions)
