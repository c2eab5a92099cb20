"""Search over words and vectors together: own tables in place of the FTS5 table.

FTS5 scores a term by walking all rows that hold it; postings held as arrays are read once and scored together. How
long a search takes is printed by `python -m tests.store.bench_search`. The rows are written when the database is
filled, so nothing is lost with the old table.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("DROP TABLE search_vocabulary")
    op.execute("DROP TABLE search")
    op.create_table(
        "texts",
        sa.Column("skeleton", sa.Integer(), primary_key=True),
        sa.Column("length", sa.Float(), nullable=False),
        sa.Column("stems", sa.Text(), nullable=False),
    )
    op.create_table(
        "postings",
        sa.Column("term", sa.Text(), primary_key=True),
        sa.Column("skeletons", sa.LargeBinary(), nullable=False),
        sa.Column("weights", sa.LargeBinary(), nullable=False),
        sa.Column("shares", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "vectors",
        sa.Column("skeleton", sa.Integer(), primary_key=True),
        sa.Column("model", sa.Text(), primary_key=True),
        sa.Column("texts_sha256", sa.String(64), nullable=False),
        sa.Column("vectors", sa.LargeBinary(), nullable=False),
        sa.Column("centre", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "facets",
        sa.Column("skeleton", sa.Integer(), primary_key=True),
        sa.Column("facet", sa.String(16), primary_key=True),
        sa.Column("value", sa.Text(), primary_key=True),
    )
    op.create_index("facets_value", "facets", ["facet", "value"])
    op.execute("DELETE FROM meta WHERE key = 'filled_from'")


def downgrade() -> None:
    for table in ("facets", "vectors", "postings", "texts"):
        op.drop_table(table)
    op.execute("CREATE VIRTUAL TABLE search USING fts5(name, title, symptoms, tags, summary, applies_if, "
               "tokenize = 'porter unicode61 remove_diacritics 2')")
    op.execute("CREATE VIRTUAL TABLE search_vocabulary USING fts5vocab(search, row)")
    op.execute("DELETE FROM meta WHERE key = 'filled_from'")
