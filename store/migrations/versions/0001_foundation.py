"""The tables of records, evidence and search.

Later revisions add to these tables; this file is never edited once released.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# REPLACE deletes without firing delete triggers, so a second copy is stopped before SQLite looks at the conflict.
_APPEND_ONLY = (
    """CREATE TRIGGER evidence_no_update BEFORE UPDATE ON evidence
       BEGIN SELECT RAISE(ABORT, 'evidence is append-only'); END""",
    """CREATE TRIGGER evidence_no_delete BEFORE DELETE ON evidence
       BEGIN SELECT RAISE(ABORT, 'evidence is append-only'); END""",
    """CREATE TRIGGER evidence_once BEFORE INSERT ON evidence
       WHEN EXISTS (SELECT 1 FROM evidence WHERE id = NEW.id)
       BEGIN SELECT RAISE(IGNORE); END""",
)


def upgrade() -> None:
    op.create_table(
        "meta",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("value", sa.Text(), nullable=False),
    )
    op.create_table(
        "skeletons",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("name", sa.String(64), nullable=False, unique=True),
        sa.Column("origin", sa.String(16), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("purpose", sa.String(16), nullable=False),
        sa.Column("advice", sa.Boolean(name="skeletons_advice"), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("content_sha256", sa.String(64), nullable=False),
        sa.CheckConstraint("origin IN ('packaged', 'user')", name="skeletons_origin"),
    )
    op.create_table(
        "evidence",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("skeleton", sa.String(64), nullable=False),
        sa.Column("kernel", sa.Text(), nullable=False),
        sa.Column("level", sa.String(16), nullable=False),
        sa.Column("verdict", sa.String(16), nullable=False),
        sa.Column("measured_at", sa.String(40), nullable=False),
        sa.Column("environment", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
    )
    op.create_index("evidence_skeleton", "evidence", ["skeleton", "measured_at"])
    for trigger in _APPEND_ONLY:
        op.execute(trigger)
    op.execute("CREATE VIRTUAL TABLE search USING fts5(name, title, symptoms, tags, summary, applies_if, "
               "tokenize = 'porter unicode61 remove_diacritics 2')")
    op.execute("CREATE VIRTUAL TABLE search_vocabulary USING fts5vocab(search, row)")


def downgrade() -> None:
    for table in ("search_vocabulary", "search", "evidence", "skeletons", "meta"):
        op.drop_table(table)
