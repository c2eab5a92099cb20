"""The tables of long work that agents asked for, and of every call they made.

This file is never edited once released.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_APPEND_ONLY = (
    """CREATE TRIGGER calls_no_update BEFORE UPDATE ON calls
       BEGIN SELECT RAISE(ABORT, 'calls are append-only'); END""",
    """CREATE TRIGGER calls_no_delete BEFORE DELETE ON calls
       BEGIN SELECT RAISE(ABORT, 'calls are append-only'); END""",
)


def upgrade() -> None:
    op.create_table(
        "jobs",
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("id", sa.String(40), nullable=False, unique=True),
        sa.Column("tool", sa.String(64), nullable=False),
        sa.Column("roots", sa.Text(), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("progress", sa.Text()),
        sa.Column("result", sa.Text()),
        sa.Column("text", sa.Text()),
        sa.Column("error", sa.Text()),
        sa.Column("process", sa.Integer()),
        sa.Column("process_started", sa.Float()),
        sa.Column("created_at", sa.String(40), nullable=False),
        sa.Column("started_at", sa.String(40)),
        sa.Column("ended_at", sa.String(40)),
        sa.CheckConstraint("state IN ('queued', 'running', 'done', 'failed', 'cancelled')", name="jobs_state"),
    )
    op.create_index("jobs_by_state", "jobs", ["state", "number"])
    op.create_table(
        "calls",
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("called_at", sa.String(40), nullable=False),
        sa.Column("process", sa.Integer(), nullable=False),
        sa.Column("tool", sa.String(64), nullable=False),
        sa.Column("arguments", sa.Text(), nullable=False),
        sa.Column("arguments_sha256", sa.String(64), nullable=False),
        sa.Column("outcome", sa.String(64), nullable=False),
        sa.Column("job", sa.String(40)),
        sa.Column("seconds", sa.Float(), nullable=False),
    )
    for trigger in _APPEND_ONLY:
        op.execute(trigger)


def downgrade() -> None:
    for table in ("calls", "jobs"):
        op.drop_table(table)
