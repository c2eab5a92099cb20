"""Which licence a source states: its metadata's SPDX expression, or the text of its licence file."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .entry import NO_LICENCE

LICENCE_FILES = ("license", "licence", "copying")
"""How the names of licence files begin."""
_SIGNS = (
    (r"Apache License\s+Version 2\.0", "Apache-2.0"),
    (r"GNU AFFERO GENERAL PUBLIC LICENSE\s+Version 3", "AGPL-3.0-only"),
    (r"GNU LESSER GENERAL PUBLIC LICENSE\s+Version 3", "LGPL-3.0-only"),
    (r"GNU GENERAL PUBLIC LICENSE\s+Version 3", "GPL-3.0-only"),
    (r"GNU GENERAL PUBLIC LICENSE\s+Version 2", "GPL-2.0-only"),
    (r"Mozilla Public License,? Version 2\.0", "MPL-2.0"),
    (r"Neither the name of .{0,200}may be used to endorse", "BSD-3-Clause"),
    (r"Redistributions in binary form must reproduce", "BSD-2-Clause"),
    (r"Permission is hereby granted, free of charge, to any person obtaining a copy", "MIT"),
)


def licence_files(names: Iterable[str]) -> list[str]:
    """Licence files at the top of a source, those with the shortest names first."""
    found = [name for name in names if "/" not in name and name.lower().startswith(LICENCE_FILES)]
    return sorted(found, key=lambda name: (len(name), name))


def licence_of_text(text: str) -> str:
    """The SPDX identifier of a licence's text; `NOASSERTION` for one that is not known."""
    plain = re.sub(r"\s+", " ", text)
    return next((spdx for sign, spdx in _SIGNS if re.search(sign, plain, re.IGNORECASE)), NO_LICENCE)


def licence_of_metadata(metadata: str) -> str:
    """The licence that a package's METADATA states: its SPDX expression, else the text it carries."""
    stated = re.search(r"^License-Expression:\s*(.+)$", metadata, re.MULTILINE)
    return stated.group(1).strip() if stated else licence_of_text(metadata)
