"""Shows what a hazard does: one launch of a kernel alone, on small inputs."""
