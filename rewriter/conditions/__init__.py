"""Conditions: named, machine-checked predicates over facts. Each returns refusals; none means it holds."""
