"""Public operators of fla-core on small sizes: `python fla_operators.py FAMILY`, or every family without a name."""

from __future__ import annotations

import sys
from typing import Any

import torch
from calling import LONG, SHORT, B, D, H, call, prepare, tensor

QKV = {"q": "n", "k": "n", "v": "x"}
SOFT = {"q": "x", "k": "x", "v": "x"}


def state() -> torch.Tensor:
    return tensor("S", 1)


FINAL = {"output_final_state": True}
STATES: dict[str, Any] = {"initial_state": state, **FINAL}


def ops(name: str, letters: dict[str, str], steps: int = LONG, /, **more: Any) -> None:
    call(f"fla.ops.{name}", letters, steps, **more)


def delta() -> None:
    ops("delta_rule.chunk_delta_rule", {**QKV, "beta": "b"}, **STATES, half=True)
    ops("delta_rule.fused_recurrent_delta_rule", {**QKV, "beta": "b"}, SHORT, **STATES)
    ops("gated_delta_rule.chunk_gated_delta_rule", {**QKV, "g": "g", "beta": "b"}, **STATES)
    ops("gated_delta_rule.chunk_gated_delta_rule", {**QKV, "g": "g", "beta": "b"}, use_qk_l2norm_in_kernel=True)
    ops("gated_delta_rule.fused_recurrent_gated_delta_rule", {**QKV, "g": "g", "beta": "b"}, SHORT, **STATES)
    ops(
        "gated_delta_product.chunk_gated_delta_product",
        {**QKV, "g": "g", "beta": "b"},
        num_householder=1,
        **FINAL,
        half=True,
    )
    ops("comba.chunk_comba", {**QKV, "p": "n", "g": "g", "beta": "b"}, **STATES)
    ops("comba.fused_recurrent_comba", {**QKV, "p": "n", "g": "g", "beta": "b"}, SHORT, **STATES)
    ops("gated_oja_rule.chunk_gated_oja_rule", {**QKV, "gv": "G", "beta": "b"}, **STATES)
    ops("gated_oja_rule.fused_recurrent_gated_oja_rule", {**QKV, "gv": "G", "beta": "b"}, SHORT, **STATES)


def momentum() -> None:
    gates = {"log_alpha": "g", "log_mu": "g", "beta": "b", "eta": "b"}
    ops("momentum_delta_rule.chunk_momentum_delta_rule", {**QKV, **gates}, half=True)
    ops("momentum_delta_rule.fused_recurrent_momentum_delta_rule", {**QKV, **gates}, SHORT)
    conditioned = {**QKV, "g_atk": "g", "g": "g", "beta_atk": "b", "beta": "b"}
    ops("precond_gated_delta_rule.chunk_precond_gated_delta_rule", conditioned)
    ops("precond_gated_delta_rule.fused_recurrent_precond_gated_delta_rule", conditioned, SHORT)
    ops("precond_kda.chunk_precond_kda", {**conditioned, "g": "G"})
    ops("precond_kda.fused_recurrent_precond_kda", {**conditioned, "g": "G"}, SHORT)


def kda() -> None:
    ops("kda.chunk_kda", {**QKV, "g": "G", "beta": "b"}, **STATES)
    ops("kda.fused_recurrent_kda", {**QKV, "g": "G", "beta": "b"}, SHORT, **STATES)
    gated = {"A_log": lambda: torch.zeros(H), "dt_bias": lambda: torch.zeros(H * D), "use_gate_in_kernel": True}
    ops("kda.chunk_kda", {**QKV, "g": "x", "beta": "b"}, **gated, use_qk_l2norm_in_kernel=True)
    ops("kda.fused_recurrent_kda", {**QKV, "g": "x", "beta": "b"}, SHORT, **gated, use_qk_l2norm_in_kernel=True)
    ops("gdn2.chunk_gdn2", {**QKV, "g": "G", "b": "W", "w": "W"}, **STATES)
    ops("gdn2.fused_recurrent_gdn2", {**QKV, "g": "G", "b": "W", "w": "W"}, SHORT, **STATES)


def generalised() -> None:
    low = {**QKV, "a": "n", "b": "n"}
    ops("generalized_delta_rule.chunk_dplr_delta_rule", {**low, "gk": "G"}, **STATES)
    ops("generalized_delta_rule.fused_recurrent_dplr_delta_rule", {**low, "gk": "G"}, SHORT, **STATES)
    ops("generalized_delta_rule.chunk_iplr_delta_rule", low, **STATES)
    ops("generalized_delta_rule.fused_recurrent_iplr_delta_rule", low, SHORT, **STATES)


def rwkv() -> None:
    seven = {"r": "n", "w": "G", "k": "n", "v": "x", "a": "n", "b": "n"}
    ops("rwkv7.chunk_rwkv7", seven, **STATES)
    ops("rwkv7.fused_recurrent_rwkv7", seven, SHORT, **STATES)
    mixed = {"r": "n", "w": "G", "k": "n", "v": "x", "kk": "n", "a": "W"}
    ops("rwkv7.fused_mul_recurrent_rwkv7", mixed, SHORT, **STATES)
    six = {"r": "x", "k": "x", "v": "x", "w": "G", "u": "u"}
    ops("rwkv6.chunk_rwkv6", six, **STATES)
    ops("rwkv6.fused_recurrent_rwkv6", six, SHORT, **STATES)
    vectors = {name: lambda: torch.randn(B, SHORT, D) for name in ("k", "v")}
    held = {"w": lambda: -torch.rand(D), "u": lambda: torch.randn(D), "state": lambda: torch.randn(B, 3, 1, D)}
    ops("rwkv4.fused_recurrent_rwkv4", {}, SHORT, **vectors, **held)


def gla() -> None:
    ops("gla.chunk_gla", {**SOFT, "g": "G"}, **STATES)
    ops("gla.fused_recurrent_gla", {**SOFT, "gk": "G"}, SHORT, **STATES)
    ops("simple_gla.chunk_simple_gla", {**SOFT, "g": "g"}, **STATES)
    ops("simple_gla.fused_chunk_simple_gla", {**SOFT, "g": "g"}, **STATES)
    ops("simple_gla.fused_recurrent_simple_gla", {**SOFT, "g": "g"}, SHORT, **STATES)
    ops("simple_gla.parallel_simple_gla", {**SOFT, "g": "g"})
    ops("retention.chunk_retention", SOFT, **STATES)
    ops("retention.fused_recurrent_retention", SOFT, SHORT, **STATES)
    ops("retention.parallel_retention", SOFT)
    ops("lightning_attn.chunk_lightning_attn", SOFT, layer_idx=1, num_layers=4)
    ops("linear_attn.chunk_linear_attn", SOFT, normalize=False)
    ops("linear_attn.fused_chunk_linear_attn", SOFT, normalize=False)
    ops("linear_attn.fused_recurrent_linear_attn", SOFT, SHORT)
    ops("lightnet.chunk_lightnet", SOFT)
    ops("lightnet.fused_recurrent_lightnet", SOFT, SHORT)


def slots() -> None:
    ops("gsa.chunk_gsa", {**SOFT, "s": "x", "g": "G"})
    ops("gsa.fused_recurrent_gsa", {**SOFT, "s": "x", "g": "G"}, SHORT)
    ops("abc.chunk_abc", {**SOFT, "s": "x"})
    rows = {"x": lambda: torch.randn(B, LONG, D), "g": lambda: -torch.rand(B, LONG, D)}
    ops("hgrn.chunk_hgrn", {}, **rows)
    ops("hgrn.fused_recurrent_hgrn", {}, **rows)
    ops("mesa_net.chunk_mesa_net", {**QKV, "g": "g", "beta": "b", "lamb": "u"}, max_CG_iteration=2)
    ops("log_linear_attn.chunk_log_linear_attn", {**SOFT, "g": "g"}, level_scales=lambda: torch.rand(B, LONG, H, 8))


def attention() -> None:
    ops("attn.parallel_attn", SOFT)
    ops("attn.parallel_attn", {**SOFT, "g": "g"}, window_size=32)
    ops("forgetting_attn.parallel_forgetting_attn", {**SOFT, "g": "g"})
    ops("stickbreaking_attn.parallel_stickbreaking_attn", SOFT)
    ops("path_attn.parallel_path_attn", {**SOFT, "w": "n", "beta": "b", "g": "g"})
    ops("parallax.parallel_parallax", {**SOFT, "r": "x"}, half=True)
    ops("wall_attn.parallel_wall_attn", {**SOFT, "g": "G"})
    ops("rebased.parallel_rebased", dict.fromkeys(("q", "k", "v"), "x"))
    ops("based.parallel_based", SOFT)
    ops("based.fused_chunk_based", SOFT)


def others() -> None:
    ops("ttt.chunk_ttt_linear", {**SOFT, "w": "u", "b": "u"}, eta=lambda: torch.rand(B, LONG, H, 1))
    ops("ttt.fused_chunk_ttt_linear", {**SOFT, "w": "u", "b": "u"}, eta=lambda: torch.rand(B, LONG, H, 1))
    ops(
        "attnres.fused_attnres",
        {},
        query=lambda: torch.randn(D),
        residuals=lambda: torch.randn(3, B, SHORT, D),
        rms_weight=lambda: torch.rand(D),
    )
    readout = {"readout": "n", "q_norm_weight": "d", "k_norm_weight": "d"}
    cyfa = {**QKV, "g": "g", "delta": "b", "beta": "b", **readout}
    ops("cyfa.chunk_cyfa", cyfa, q_norm_eps=1e-5, k_norm_eps=1e-5)
    ops("cyfa.fused_recurrent_cyfa", cyfa, SHORT, q_norm_eps=1e-5, k_norm_eps=1e-5)
    heads = {"q": lambda: torch.randn(B, SHORT * 12, 16, D), "k": lambda: torch.randn(B, SHORT * 12, 1, D)}
    ops(
        "nsa.parallel_nsa",
        {},
        **heads,
        v=lambda: torch.randn(B, SHORT * 12, 1, D),
        block_size=32,
        block_counts=2,
        g_cmp=lambda: torch.rand(B, SHORT * 12, 16),
        g_slc=lambda: torch.rand(B, SHORT * 12, 16),
    )


def utilities() -> None:
    for name in ("chunk_global_cumsum", "softmax_fwd", "logsumexp_fwd"):
        key = "s" if "cumsum" in name else "x"
        ops(f"utils.{name}", {key: "g" if "cumsum" in name else "x"})
    ops("utils.chunk_global_cumsum", {"s": "x"})
    ops("utils.chunk_local_cumsum", {"g": "g"}, chunk_size=64)
    ops("utils.chunk_local_cumsum", {"g": "G"}, chunk_size=64)
    ops("utils.mean_pooling", {"x": "x"}, chunk_size=32)
    ops("utils.softmax_bwd", {}, p=lambda: torch.rand(4, D), dp=lambda: torch.rand(4, D))
    ops("utils.matmul", {}, a=lambda: torch.rand(40, D), b=lambda: torch.rand(D, 48))
    ops("utils.addmm", {}, x=lambda: torch.rand(40, 48), a=lambda: torch.rand(40, D), b=lambda: torch.rand(D, 48))
    ops("utils.sinkhorn", {}, logits=lambda: torch.randn(4, 4, 4), num_iters=3)
    for size in (16, 32, 64):
        ops("utils.solve_tril", {}, A=lambda size=size: torch.tril(0.1 * torch.randn(B, LONG, H, size), -1))
    lengths = torch.tensor([0, 5, 12])
    ops("utils.pack_sequence", {}, x=lambda: torch.randn(2, 7, D), cu_seqlens=lengths)
    ops("utils.unpack_sequence", {}, x=lambda: torch.randn(12, D), cu_seqlens=lengths)
    for name in ("prepare_position_ids", "prepare_sequence_ids", "prepare_token_indices"):
        ops(f"utils.{name}", {}, cu_seqlens=lengths)


def modules() -> None:
    def module(name: str, /, **more: Any) -> None:
        call(f"fla.modules.{name}", {}, 1, **more)

    def rows(*shape: int) -> Any:
        return lambda: torch.randn(*shape, requires_grad=True)

    x, w = rows(6, D), rows(D)
    for place in ("norm.l2norm", "l2norm"):
        module(f"{place}.l2norm", x=x)
    for place in ("norm.layernorm", "layernorm"):
        module(f"{place}.layer_norm", x=x, weight=w, bias=w)
        module(f"{place}.rms_norm", x=x, weight=w, bias=None)
        module(f"{place}.group_norm", x=x, weight=w, bias=w, num_groups=2)
    for place in ("norm.fused_norm_gate", "fused_norm_gate"):
        module(f"{place}.rms_norm_gated", x=x, g=x, weight=w, bias=None)
        module(f"{place}.layer_norm_gated", x=x, g=x, weight=w, bias=w)
    for place in ("norm.layernorm_gated", "layernorm_gated"):
        module(f"{place}.layernorm_fn", x=x, weight=w, bias=w)
        module(f"{place}.rmsnorm_fn", x=x, weight=w, bias=w, z=x)
    module("rotary.rotary_embedding", x=rows(B, 8, H, D), cos=rows(8, D // 2), sin=rows(8, D // 2))
    for name in ("swish", "sigmoid", "logsigmoid", "sqrelu"):
        module(f"activations.{name}", x=x)
    module("activations.swiglu", x=x, y=x)
    module("activations.swiglu_linear", x=x, y=x, weight=rows(D, D), bias=None)
    module("activations.powglu", x=x, y=x)
    module("causal_conv1d.causal_conv1d", x=rows(B, 12, D), weight=rows(D, 4), activation="swish")
    module("causal_conv1d.causal_conv1d", x=rows(B, 12, D), weight=rows(D, 4), bias=w, residual=rows(B, 12, D))
    module("convolution.causal_conv1d", x=rows(B, 12, D), weight=rows(D, 4), activation="swish")
    module("token_shift.token_shift", x=rows(B, 8, D))
    target = lambda: torch.arange(6)  # noqa: E731
    for place in ("fused_cross_entropy",):
        module(f"{place}.cross_entropy_loss", logits=x, target=target)
    module("fused_linear_cross_entropy.fused_linear_cross_entropy_loss", x=x, target=target, weight=rows(40, D))
    module(
        "fused_kl_div.fused_kl_div_loss",
        x=x,
        target_x=lambda: torch.randn(6, D),
        weight=rows(40, D),
        target_weight=lambda: torch.randn(40, D),
    )
    module("l2warp.l2_warp", loss=lambda: torch.zeros((), requires_grad=True), logits=rows(B, 6, 40))
    grpo = {
        "logits": rows(B, 7, 40),
        "ref_logp": rows(B, 6),
        "input_ids": lambda: torch.arange(6).reshape(1, 6),
        "advantages": rows(B),
        "beta": 0.1,
    }
    module("grpo.fused_grpo_loss", **grpo)


FAMILIES = (delta, momentum, kda, generalised, rwkv, gla, slots, attention, others, utilities, modules)

if __name__ == "__main__":
    prepare()
    for family in FAMILIES:
        if not sys.argv[1:] or family.__name__ in sys.argv[1:]:
            family()
