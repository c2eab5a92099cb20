"""Words that people of this field use for one another. A query word also finds its group, at a lower weight.

Each line is a group. A term of several words is matched as a phrase; endings do not matter.
"""

from functools import lru_cache

from .stems import stems
from .terms import terms

_GROUPS = """
program | block | cta | thread block | workgroup
grid | launch grid | program id
norm | normalize | rmsnorm | layernorm | l2norm
redundant | repeat | recompute | duplicate | same work
recompute | compute again
kernel launch | launch
gap | bubble | idle
idle | unoccupied | underutilize | starve
occupancy | utilization | parallelism
sm | multiprocessor
reciprocal | rsqrt
division | divide
exponential | exp | exp2
sfu | mufu | xu | special function unit
hbm | global memory | dram | device memory
bandwidth | memory bound
latency | stall
register | spill
shared memory | smem
tma | tensor descriptor | bulk copy
tensor core | mma | wgmma
matmul | gemm | matrix multiply | matrix product | dot
precision | accuracy
drift | error growth | inaccurate
overflow | wrap around
int32 | 32 bit
int64 | 64 bit
mask | bounds check | predicate
tail | remainder
compile | recompile | jit
autotune | tuning
config | configuration
pdl | dependent launch | programmatic dependent launch | griddepcontrol | gdc
synchronize | sync
gil | interpreter lock | global interpreter lock
copy | contiguous
stride | non contiguous
quantize | quantization
kv cache | kv
decode | token generation
state | recurrent state | hidden state
page | paged
transpose | layout
logsumexp | lse | normalizer
bank conflict | swizzle
cache | l2
persistent | grid stride
split | partition
combine | merge
fuse | fusion
load | read
store | write
hoist | loop invariant | invariant
数据搬运 | 拷贝
利用率 | 占用率
线程块 | 程序块 | cta
显存 | hbm | global memory
启动 | launch
融合 | fuse
归一化 | norm
带宽 | bandwidth
寄存器 | register
共享内存 | shared memory
编译 | compile
精度 | precision
溢出 | overflow
重复 | redundant
解码 | decode
并行 | parallelism
量化 | quantize
"""


@lru_cache(maxsize=1)
def synonyms() -> dict[str, tuple[str, ...]]:
    """For the stems of each member of a group, the other members of its groups."""
    groups = [[" ".join(terms(member)) for member in group.split("|")] for group in _GROUPS.strip().splitlines()]
    stem = stems(member for group in groups for member in group)
    table: dict[str, list[str]] = {}
    for group in groups:
        for member in group:
            table.setdefault(stem[member], []).extend(other for other in group if stem[other] != stem[member])
    return {member: tuple(dict.fromkeys(others)) for member, others in table.items()}
