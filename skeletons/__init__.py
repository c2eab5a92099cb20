"""The knowledge: one folder per skeleton (`NAME/skeleton.yaml`, `NAME/cases/`, `NAME/evidence/`)."""
