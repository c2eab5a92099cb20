"""Alembic's entry: runs the migrations on the connection, and in the transaction, that the caller holds."""

from alembic import context

from skel.store.models import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata)
context.run_migrations()
