"""Validation: workloads, isolation, compile check, numerics, timing. Believes nothing it did not measure."""
