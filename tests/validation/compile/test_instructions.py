import pytest

from skel.validation.compile import amd
from skel.validation.compile.nvidia import instruction_mix


def test_sass_is_counted_by_group() -> None:
    text = """
        /*0000*/                   MUFU.EX2 R5, R5 ;
        /*0010*/              @!P0 LDG.E.128.CONSTANT R8, desc[UR4][R2.64] ;
        /*0020*/               @P1 STL.64 [R1+0x8], R4 ;
        /*0030*/                   LDL R4, [R1] ;
        /*0040*/                   SHFL.BFLY PT, R3, R2, 0x10, 0x1f ;
        /*0050*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0060*/                   HGMMA.64x64x16.F32 R24, gdesc[UR8], !UPT ;
        /*0070*/                   LDGSTS.E.BYPASS.128 [R5], desc[UR6][R2.64] ;
    """
    mix = instruction_mix(text)
    expected = {
        "transcendentals": 1,
        "global_loads": 1,
        "global_loads_128": 1,
        "local_stores": 1,
        "local_loads": 1,
        "shuffles": 1,
        "barriers": 1,
        "matrix": 1,
        "async_copies": 1,
        "total": 8,
    }
    assert {key: value for key, value in mix.items() if value} == expected


def test_amd_metadata_and_mnemonics() -> None:
    text = (
        "\tglobal_load_dwordx4 v[0:3], v4, s[0:1]\n\tv_exp_f32_e32 v1, v1\n\ts_barrier\n; Occupancy: 8\n"
        "    .vgpr_count:     52\n    .vgpr_spill_count: 3\n    .private_segment_fixed_size: 16\n"
    )
    figures = amd.figures(text)
    assert (figures["registers"], figures["spill_bytes"], figures["stack_bytes"], figures["waves_per_simd"]) == (
        52,
        12,
        16,
        8,
    )
    assert figures["instructions"]["global_loads_128"] == 1
    assert figures["instructions"]["transcendentals"] == 1
    with pytest.raises(ValueError, match="vgpr_count"):
        amd.figures("nothing")
