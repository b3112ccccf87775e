/* SPDX-License-Identifier: MIT */
/* How each record in a shared object begins: u64 size of what follows, u32 version. */
#ifndef LINK_MODULE_LINK_RECORD_H
#define LINK_MODULE_LINK_RECORD_H

#include <tenon/backend/cursor.h>

/**
 * link_record_open - begin to read a symbol of this project
 * @bytes: from the symbol to the end of the symbol or segment; must outlive @c
 * @what: what it is, for messages; must outlive @c
 * @version: the version that can be read
 * @c: receives the place behind the version; it ends where the record does
 *
 * Return: 0; -TENON_E_TRUNCATED; -TENON_E_UNSUPPORTED for another version.
 */
int link_record_open(struct tenon_slice bytes, const char *what, uint32_t version,
		     struct tenon_cursor *c);

#endif /* LINK_MODULE_LINK_RECORD_H */
