/* SPDX-License-Identifier: MIT */
/* The record that keeps the names of artifacts in a shared object. */
#ifndef LINK_MODULE_ARTIFACT_RECORD_H
#define LINK_MODULE_ARTIFACT_RECORD_H

/*
 * The symbol `__tenon_artifacts`, which TVM ignores:
 *
 *	u64 size of what follows
 *	u32 version, 1
 *	u64 count, and for each artifact
 *		u64 number of its module in the import tree
 *		string codegen_id, loader, target_key, file_name, device
 *
 * A string is a u64 length and bytes; all numbers are little-endian. The artifacts are in the order
 * of loading.
 */

#include "link/module/artifact.h"

#define ARTIFACT_RECORD_SYMBOL "__tenon_artifacts"

/** artifact_record_write - append the record of a set; 0 or -TENON_E_NOMEM */
int artifact_record_write(const struct artifact_set *set, struct tenon_buffer *out);

/**
 * artifact_record_read - read the record of a file
 * @bytes: from the symbol to the end of the symbol or segment
 * @file: for messages
 * @out: zeroed by the caller; receives artifacts without content. Free it with artifact_set_fini(),
 *	also on failure.
 *
 * Return: 0; -TENON_E_TRUNCATED; -TENON_E_FORMAT; -TENON_E_UNSUPPORTED for another version;
 *	-TENON_E_EXISTS for a file name that occurs twice; -TENON_E_NOMEM.
 */
int artifact_record_read(struct tenon_slice bytes, const char *file, struct artifact_set *out);

#endif /* LINK_MODULE_ARTIFACT_RECORD_H */
