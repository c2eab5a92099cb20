"""What was mined: sources at their revisions, kernels, occurrences with their places, and claims of commits."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "mined_sources",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("repository", sa.Text()),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("revision", sa.String(64), nullable=False),
        sa.Column("licence", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("mined_at", sa.String(40), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
    )
    op.create_table(
        "mined_kernels",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("source", sa.String(64), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("end_line", sa.Integer(), nullable=False),
        sa.Column("language", sa.String(16), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("licence", sa.Text(), nullable=False),
        sa.Column("revision", sa.String(64), nullable=False),
        sa.Column("resources", sa.Text(), nullable=False),
        sa.Column("conditions", sa.Text(), nullable=False),
    )
    op.create_index("mined_kernels_place", "mined_kernels", ["source", "path"])
    op.create_index("mined_kernels_digest", "mined_kernels", ["digest"])
    op.create_table(
        "occurrences",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("technique", sa.String(64), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("language", sa.String(16), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
    )
    op.create_index("occurrences_technique", "occurrences", ["technique", "role"])
    op.create_table(
        "occurrence_places",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("occurrence", sa.String(64), nullable=False),
        sa.Column("source", sa.String(64), nullable=False),
        sa.Column("repository", sa.Text()),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("kernel", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("applicable", sa.Boolean(name="occurrence_places_applicable")),
        sa.Column("refusals", sa.Text(), nullable=False),
        sa.Column("licence", sa.Text(), nullable=False),
        sa.Column("first_revision", sa.String(64), nullable=False),
        sa.Column("revision", sa.String(64), nullable=False),
        sa.Column("retired_revision", sa.String(64)),
    )
    op.create_index("occurrence_places_source", "occurrence_places", ["source"])
    op.create_index("occurrence_places_occurrence", "occurrence_places", ["occurrence"])
    op.create_table(
        "mined_claims",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("source", sa.String(64), nullable=False),
        sa.Column("repository", sa.Text()),
        sa.Column("commit_id", sa.String(64), nullable=False),
        sa.Column("committed_at", sa.String(40), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("technique", sa.String(64)),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("statement", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
    )
    op.create_index("mined_claims_technique", "mined_claims", ["technique"])
    op.create_index("mined_claims_source", "mined_claims", ["source"])


def downgrade() -> None:
    for table in ("mined_claims", "occurrence_places", "occurrences", "mined_kernels", "mined_sources"):
        op.drop_table(table)
