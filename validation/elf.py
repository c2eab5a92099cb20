"""The hash of what a GPU executes in a binary, its debugging information left out: that names the folder compiled in.

Executable and Linkable Format, 64 bit, little endian (System V ABI, Object Files), as cubin and hsaco files are.
"""

from __future__ import annotations

import hashlib
import struct

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_NO_BITS = 8
"""Section type SHT_NOBITS: it has a size and no bytes in the file."""
_LEFT_OUT = (".debug", ".nv_debug", ".rel.debug", ".rela.debug", ".rel.nv_debug", ".nv.rel.debug", ".comment", ".note")
_TABLES = frozenset({".strtab", ".shstrtab", ".symtab", ".dynstr", ".dynsym", ".hash", ".gnu.hash"})
"""Names and places of sections and symbols: they move with the debugging information."""


def code_sha256(binary: bytes) -> str:
    """Hash of name and bytes of every other section, in their order; of all bytes where it is no such file."""
    made = hashlib.sha256()
    try:
        for name, content in _sections(binary):
            if not name.startswith(_LEFT_OUT) and name not in _TABLES:
                made.update(f"{name} {len(content)}\n".encode() + content)
    except (struct.error, ValueError, IndexError):
        return hashlib.sha256(binary).hexdigest()
    return made.hexdigest()


def _sections(binary: bytes) -> list[tuple[str, bytes]]:
    header = _HEADER.unpack_from(binary)
    if not header[0].startswith(b"\x7fELF\x02\x01"):
        raise ValueError("no ELF file of 64 bits")
    offset, size, count, names = header[6], *header[11:14]
    headers = [_SECTION.unpack_from(binary, offset + number * size) for number in range(count)]
    table = _content(binary, headers[names])
    return [(_name(table, one[0]), _content(binary, one)) for one in headers if one[1]]


def _content(binary: bytes, header: tuple[int, ...]) -> bytes:
    return b"" if header[1] == _NO_BITS else binary[header[4] : header[4] + header[5]]


def _name(table: bytes, start: int) -> str:
    return table[start : table.index(b"\0", start)].decode("utf-8", "replace")
