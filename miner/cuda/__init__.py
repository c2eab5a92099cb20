"""CUDA sources, read with tree-sitter: kernels and device functions, and the techniques they use."""
