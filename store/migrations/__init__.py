"""Alembic migrations of the store, run from `skel.store.migrate`; they work from an installed package."""
