"""Members of a zip as text, also those that Zstandard compressed, which `zipfile` reads from Python 3.14 on only.

The formats: PKWARE's APPNOTE.TXT, 6.3.10, and RFC 8878 for Zstandard.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import TYPE_CHECKING

from evalpipe.base.lazy_polars import pl
from evalpipe.data.logs.reading import LARGEST_TEXT
from evalpipe.words.spelling import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from evalpipe.data.logs.reading import LogFile
    from evalpipe.errors import DataError

_LOCAL_HEADER = b"PK\x03\x04"
_STORED, _DEFLATED, _ZSTANDARD = 0, 8, 93
_AGAIN = "copy the file again, or log the run again"
_LARGEST_BLOCK = 2**17


class ZippedMembers:
    """The members of a zip: their names, and the text of any, which is the last of those that share its name."""

    def __init__(self, file: LogFile) -> None:
        """Read the directory of the zip; raises DataError where there is none."""
        self._file, self._stream = file, file.path.open("rb")
        try:
            self._zip = zipfile.ZipFile(self._stream)
        except (zipfile.BadZipFile, NotImplementedError, ValueError):
            self._stream.seek(0)
            is_cut = self._stream.read(4) == _LOCAL_HEADER
            self._stream.close()
            raise file.error(
                "broken-log", f"{file.shown} is a zip without its end" if is_cut else f"{file.shown} is no zip",
                f"the run was stopped or the copy is not whole: {_AGAIN}" if is_cut else
                "an Inspect log ends in .json, or in .eval and is a zip") from None
        self.names = frozenset(self._zip.namelist())

    def __enter__(self) -> Self:
        """Return the zip, open."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._zip.close()
        self._stream.close()

    def text(self, name: str) -> str:
        """Return the text of a member, perhaps without its last line end.

        Raises DataError where the member is cut, damaged or too large, or cannot be unpacked.
        """
        member = self._zip.getinfo(name)
        if member.file_size > LARGEST_TEXT:
            raise self._file.too_large(self._called(name))
        try:
            unpacked = self._unpacked(member, self._packed(member))
        except (zlib.error, OSError, ValueError, pl.exceptions.PolarsError):
            raise self._broken(name, "cannot be unpacked") from None
        # A line of polars has no end: whether the last line had one shows in the checksum.
        checksum = zlib.crc32(unpacked)
        if member.CRC not in (checksum, zlib.crc32(b"\n", checksum)):
            raise self._broken(name, "has another checksum than the zip says")
        try:
            return unpacked.decode()
        except UnicodeDecodeError:
            raise self._broken(name, "is no text in UTF-8") from None

    def _packed(self, member: zipfile.ZipInfo) -> bytes:
        """Return the bytes of a member as they lie in the file."""
        self._stream.seek(member.header_offset)
        header = self._stream.read(30)
        if header[:4] != _LOCAL_HEADER or member.flag_bits & 1:
            raise self._broken(member.filename, "is encrypted" if member.flag_bits & 1 else "has no header")
        name, extra = (int.from_bytes(header[at:at + 2], "little") for at in (26, 28))
        self._stream.seek(name + extra, io.SEEK_CUR)
        return self._stream.read(member.compress_size)

    def _unpacked(self, member: zipfile.ZipInfo, packed: bytes) -> bytes:
        """Return the bytes of a member unpacked, of which there are never more than `LARGEST_TEXT` and a block."""
        if member.compress_type == _STORED:
            return packed
        if member.compress_type == _DEFLATED:
            return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, member.file_size + 1)
        if member.compress_type != _ZSTANDARD:
            method = f"compression method {member.compress_type}"
            raise self._file.error("broken-log", f"{self._called(member.filename)} has {method}, which is not read",
                                   "write the log with Zstandard or deflate, as Inspect does")
        size = 0
        for block in _zstandard_blocks(packed):
            size += block
            if size > LARGEST_TEXT + _LARGEST_BLOCK:
                raise self._file.too_large(self._called(member.filename))
        return "\n".join(pl.read_lines(io.BytesIO(packed)).to_series()).encode() if size else b""

    def _called(self, name: str) -> str:
        return f"{quoted(name)} in {self._file.shown}"

    def _broken(self, name: str, reason: str) -> DataError:
        return self._file.error("broken-log", f"{self._called(name)} {reason}", _AGAIN)


def _zstandard_blocks(packed: bytes) -> Iterator[int]:
    """Yield the most bytes that each block of Zstandard frames unpacks to; raises ValueError where a frame is cut.

    A small file can unpack to gigabytes and its header may say otherwise. The headers of blocks alone tell how many
    there can be, before any is unpacked.
    """
    at = 0
    while at < len(packed):
        magic = int.from_bytes(packed[at:at + 4], "little")
        if magic & 0xFFFFFFF0 == 0x184D2A50:
            at += 8 + int.from_bytes(packed[at + 4:at + 8], "little")
            continue
        if magic != 0xFD2FB528 or at + 5 > len(packed):
            raise ValueError
        descriptor = packed[at + 4]
        is_single = descriptor >> 5 & 1
        at += 5 + (1 - is_single) + (0, 1, 2, 4)[descriptor & 3] + (is_single, 2, 4, 8)[descriptor >> 6]
        is_last = False
        while not is_last:
            header = int.from_bytes(packed[at:at + 3], "little")
            is_last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
            at += 3 + (1 if kind == 1 else size)
            if at > len(packed) or kind == 3:
                raise ValueError
            yield _LARGEST_BLOCK if kind == 2 else size
        at += 4 * (descriptor >> 2 & 1)
