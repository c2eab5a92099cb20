"""A user's script: public operators of fla-core, on sizes that the interpreter can take."""

import torch
from fla.modules.l2norm import l2norm
from fla.modules.layernorm import layer_norm, rms_norm
from fla.ops.delta_rule import fused_recurrent_delta_rule
from fla.ops.gated_delta_rule import fused_recurrent_gated_delta_rule
from fla.ops.gla import fused_recurrent_gla
from fla.ops.hgrn import fused_recurrent_hgrn
from fla.ops.kda import fused_recurrent_kda
from fla.ops.linear_attn import fused_recurrent_linear_attn
from fla.ops.retention import fused_recurrent_retention
from fla.ops.simple_gla import fused_recurrent_simple_gla
from fla.ops.utils import chunk_global_cumsum, chunk_local_cumsum, mean_pooling

torch.set_default_device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
B, T, H, D = 1, 16, 1, 16
q, k, v = (torch.nn.functional.normalize(torch.randn(B, T, H, D), dim=-1) for _ in range(3))
gate, gates, beta = -torch.rand(B, T, H), -torch.rand(B, T, H, D), torch.rand(B, T, H)
rows, ones = torch.randn(4, 32), torch.ones(32)

fused_recurrent_gated_delta_rule(q, k, v, g=gate, beta=beta, scale=0.25, output_final_state=True)
fused_recurrent_delta_rule(q, k, v, beta=beta, scale=0.25)
fused_recurrent_gla(q, k, v, gates)
fused_recurrent_simple_gla(q, k, v, g=gate)
fused_recurrent_retention(q, k, v)
fused_recurrent_linear_attn(q, k, v)
fused_recurrent_kda(q, k, v, gates, beta)
fused_recurrent_hgrn(torch.randn(B, T, 32), -torch.rand(B, T, 32))
chunk_local_cumsum(gate, 16)
chunk_global_cumsum(gate)
mean_pooling(torch.randn(B, T, H, D), 16)
l2norm(rows)
rms_norm(rows, ones, None)
layer_norm(rows, ones, ones)
