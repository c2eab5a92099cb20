"""One file a technique: how CUDA code shows that it uses it, or could."""
