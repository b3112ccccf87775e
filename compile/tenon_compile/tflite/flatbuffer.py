# SPDX-License-Identifier: MIT
"""Tables of a FlatBuffer. The bytes may be anyone's: each offset and each count is checked before it is used."""

import struct

from ..errors import CompileError


class Damaged(CompileError):
    """A place of the file that says what it cannot say."""


class Bytes:
    """All bytes of a file."""

    def __init__(self, content):
        self.content = content
        self.left = 4 * len(content) + (1 << 16)  # vectors may share bytes, but not so often that reading takes for ever

    def number(self, form, at):
        size = struct.calcsize(form)
        if not 0 <= at <= len(self.content) - size:
            raise Damaged(f"at byte {at}: {size} bytes are needed, and the file has {len(self.content)}")
        return struct.unpack_from(form, self.content, at)[0]

    def part(self, at, count, size):
        """Where so many elements end, which lie behind each other."""
        end = at + count * size
        if at < 0 or end > len(self.content):
            raise Damaged(f"at byte {at}: {count} elements of {size} bytes are needed, and the file has {len(self.content)}")
        self.left -= count * size
        if self.left < 0:
            raise Damaged(f"at byte {at}: too many tables share the same bytes")
        return end

    def root(self):
        return Table(self, self.number("<I", 0))


class Table:
    """A table: its fields by their numbers. A field that is missing has its default."""

    def __init__(self, source, at):
        self.source, self.at = source, at
        self.fields = at - source.number("<i", at)
        self.size = source.number("<H", self.fields)
        source.part(self.fields, self.size, 1)

    def place(self, field):
        """Where a field is; None if it is missing."""
        entry = 4 + 2 * field
        offset = self.source.number("<H", self.fields + entry) if entry + 2 <= self.size else 0
        return self.at + offset if offset else None

    def number(self, field, form="<i", default=0):
        at = self.place(field)
        return default if at is None else self.source.number(form, at)

    def flag(self, field):
        return bool(self.number(field, "<B"))

    def behind(self, field):
        """What the offset in a field leads to; None if it is missing."""
        at = self.place(field)
        return None if at is None else at + self.source.number("<I", at)

    def table(self, field):
        at = self.behind(field)
        return None if at is None else Table(self.source, at)

    def vector(self, field, size):
        """The first byte and the count of a vector's elements."""
        at = self.behind(field)
        if at is None:
            return 0, 0
        count = self.source.number("<I", at)
        self.source.part(at + 4, count, size)
        return at + 4, count

    def tables(self, field):
        first, count = self.vector(field, 4)
        return [Table(self.source, at + self.source.number("<I", at)) for at in range(first, first + 4 * count, 4)]

    def numbers(self, field, form):
        first, count = self.vector(field, struct.calcsize(form))
        return list(struct.unpack_from(f"<{count}{form[-1]}", self.source.content, first)) if count else []

    def bytes(self, field):
        first, count = self.vector(field, 1)
        return self.source.content[first : first + count]

    def text(self, field):
        return self.bytes(field).decode("utf-8", "replace")
