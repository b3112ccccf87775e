/* SPDX-License-Identifier: MIT */
/* A shared object, its import tree and the names of its artifacts. */
#ifndef LINK_MODULE_LINK_HOST_H
#define LINK_MODULE_LINK_HOST_H

#include "link/module/artifact.h"
#include "link/module/link_tree.h"
#include "link/module/payload_hashes.h"
#include "runtime/blob/import_blob.h"
#include "runtime/library/library_symbols.h"

/* room for the name of a symbol of a blob, with a prefix */
#define LINK_SYMBOL_ROOM 128

/**
 * struct link_host - a shared object that was read, not loaded
 * @path: the file
 * @bytes: its contents
 * @elf: its headers
 * @machine: name of the machine that it is for
 * @symbols: what the names of its symbols tell
 * @symbol: name of the blob's symbol; "" when there is no blob
 * @blob: the blob, from the symbol to the end of the symbol
 * @source: of @tree
 * @tree: the parsed blob
 * @has_record: it has a record of artifacts
 * @names: the record
 * @has_hashes: it has the hashes of payloads
 * @hashes: these
 */
struct link_host {
	const char *path;
	struct tenon_slice bytes;
	bool mapped; /* @bytes are its own */
	struct elf_file elf;
	char machine[32];
	struct library_symbols symbols;
	char symbol[LINK_SYMBOL_ROOM];
	struct tenon_slice blob;
	struct blob_source source;
	struct import_blob tree;
	bool has_record;
	struct artifact_set names;
	bool has_hashes;
	struct payload_hashes hashes;
};

/**
 * link_host_open - read a shared object
 * @path: the file; must outlive @h
 * @h: receives it; zeroed by the caller, freed with link_host_fini() also on failure
 *
 * Return: 0; -TENON_E_IO; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_NOMEM; errors of
 *	import_blob_read(), artifact_record_read() and payload_hashes_read().
 */
int link_host_open(const char *path, struct link_host *h);

/** link_host_read - link_host_open() for the contents of a file, which must outlive @h, too */
int link_host_read(const char *path, struct tenon_slice bytes, struct link_host *h);

/**
 * link_host_check_hashes - compare the hashes of a file with its payloads
 * @fault: called for each payload that has another hash; the thread's error says so
 *
 * Return: 0; -TENON_E_NOT_FOUND for a file without hashes; -TENON_E_VALUE for one with another number
 *	of them than there are modules.
 */
int link_host_check_hashes(const struct link_host *h, void (*fault)(void *context, size_t module),
			   void *context);

/** link_host_generation - the generation of the blob; of the host code when there is none */
enum tenon_generation link_host_generation(const struct link_host *h);

/** link_blob_imports - visit the imports of a module: sets @from and @to, places among children */
void link_blob_imports(const struct import_blob *tree, size_t module, uint64_t *from, uint64_t *to);

/** link_blob_child - the module at a place among children */
uint64_t link_blob_child(const struct import_blob *tree, uint64_t place);

void link_host_fini(struct link_host *h);

/**
 * link_host_write - append a copy of the file with another blob and other names
 * @h: the file; it has a blob
 * @blob: the new blob
 * @names: the new names, which are written if the file has a record; NULL to keep the old
 * @payloads: the modules of @blob, whose hashes are written if the file has some; NULL for none
 * @out: an empty buffer; receives the file
 *
 * Return: 0; errors of elf_replace(); -TENON_E_NOMEM.
 */
int link_host_write(const struct link_host *h, struct tenon_slice blob,
		    const struct artifact_set *names, const struct link_tree *payloads,
		    struct tenon_buffer *out);

/**
 * link_host_strip - append a copy of the file without imports
 *
 * The blob is replaced by the shortest one, so that the copy can be opened as it is.
 */
int link_host_strip(const struct link_host *h, struct tenon_buffer *out);

#endif /* LINK_MODULE_LINK_HOST_H */
