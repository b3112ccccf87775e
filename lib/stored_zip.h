/* SPDX-License-Identifier: MIT */
/* Read zip archives whose entries are stored as they are, as compilers of NPUs write them. */
#ifndef LIB_STORED_ZIP_H
#define LIB_STORED_ZIP_H

#include <tenon/backend/cursor.h>
#include <tenon/string.h>

/**
 * struct stored_entry - an entry of an archive
 * @name: its name
 * @contents: its bytes
 * @crc: the checksum of them that the archive gives; stored_crc() computes it
 */
struct stored_entry {
	struct tenon_slice name;
	struct tenon_cursor contents;
	uint32_t crc;
};

/**
 * stored_entry_next - read the next entry
 * @c: the archive; moved behind the entry, or to its end where the directory begins
 * @writer: who stores entries as they are, for the message about one that is not
 * @out: receives the entry
 *
 * Return: 1; 0 where the directory begins; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_UNSUPPORTED for an entry that is
 *	compressed, encrypted or streamed.
 */
int stored_entry_next(struct tenon_cursor *c, const char *writer, struct stored_entry *out);

/** stored_crc - the checksum of zip */
uint32_t stored_crc(struct tenon_slice bytes);

#endif /* LIB_STORED_ZIP_H */
