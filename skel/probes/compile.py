"""Compiles a kernel for sm_90, whatever this machine has; exit status 0 where it gives a cubin."""


def main() -> None:
    """Raises whatever Triton raises where it cannot compile."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from skel.probes.add_one import add_one

    signature = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    source = ASTSource(fn=add_one, signature=signature, constexprs={"BLOCK": 128})
    compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32))
    assert compiled.asm["cubin"], "no cubin"


if __name__ == "__main__":
    main()
