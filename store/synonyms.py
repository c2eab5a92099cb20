"""Words that people of this field use for one another. A query word also finds its group, at a lower weight.

Each line is a group. A term of several words is matched as a phrase; endings do not matter.
"""

import hashlib
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
idle | unoccupied | underutilize | starve | empty | unused
grow | rise | increase
freeze | hang | stuck | stand still
chip | gpu | device | card
address | pointer | offset
array | tensor | buffer
fetch | load | read
unseen | new
context length | kv length | sequence length
inner dimension | reduction dimension
barrier | sync
fast path | special case | special path | hot path
frequent | common | usual
address range | overflow
twice | duplicate | repeat
one after another | serial | sequential | in turn
simultaneously | parallel | at once
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
activation | silu | gelu | swiglu | relu | sigmoid | softplus
linear attention | mamba | ssm | state space | gated delta | delta rule | recurrence
big | large | huge
tiny | small | little
atomic | atomicadd | atomic add
nondeterminism | nondeterministic | run to run | race
wrapper | host side | cpu side | python code
拷贝 | 复制 | 数据搬运 | copy
利用率 | 占用率 | utilization
线程块 | 程序块 | cta
网格 | grid
显存 | hbm | global memory
启动 | launch
空隙 | 间隙 | 空档 | gap
融合 | fuse
拆分 | 切分 | 划分 | split
合并 | combine
归约 | 规约 | 求和 | reduction
归一化 | norm
矩阵乘 | gemm | matmul
带宽 | bandwidth
瓶颈 | bottleneck
延迟 | latency
寄存器 | register
共享内存 | shared memory
缓存 | cache
编译 | compile
调优 | autotune
精度 | precision
误差 | 漂移 | drift
溢出 | overflow
重复 | 冗余 | redundant
循环 | loop
状态 | state
掩码 | mask
流水线 | pipeline
同步 | synchronize
指数 | exp
除法 | division
倒数 | reciprocal
通信 | 传输 | communication
重叠 | 掩盖 | overlap
原子 | atomic
激活 | activation
步长 | stride
布局 | layout
转置 | transpose
预取 | prefetch
越界 | out of bounds
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


@lru_cache(maxsize=1)
def phrases() -> frozenset[str]:
    """The stems of every member of a group that has several words."""
    return frozenset(member for others in synonyms().values() for member in stems(others).values() if " " in member)


@lru_cache(maxsize=1)
def version() -> str:
    """Changes with the table: the index holds its phrases."""
    return hashlib.sha256(_GROUPS.encode()).hexdigest()[:12]
