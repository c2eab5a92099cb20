"""Names by definition: what an identifier in a module stands for."""
