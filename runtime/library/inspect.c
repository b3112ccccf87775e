/* SPDX-License-Identifier: MIT */
/* Open a file for inspection only: no code of it runs. */
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "runtime/core/describer.h"
#include "runtime/kind/file_kind.h"
#include "runtime/library/file_loader.h"
#include "runtime/library/import_tree.h"
#include "runtime/library/inspect.h"
#include "runtime/library/library_module.h"
#include "runtime/library/library_symbols.h"

/* The contents of a file; modules with slices of it hold references. */
struct file_copy {
	struct tenon_object object;
	struct tenon_slice bytes;
};

static void file_copy_delete(void *self, int flags)
{
	struct file_copy *m = self;

	if (flags & TENON_DELETE_CONTENT)
		file_map_close(&m->bytes);
	if (flags & TENON_DELETE_MEMORY)
		free(m);
}

static int file_copy_open(const char *path, struct file_copy **out)
{
	struct file_copy *m;
	int err;

	m = malloc(sizeof(*m));
	if (!m)
		return tenon_error(-TENON_E_NOMEM, "%s: no memory to read a file", path);
	err = file_map_open(path, &m->bytes);
	if (err) {
		free(m);
		return err;
	}
	tenon_object_init(&m->object, TENON_TYPE_OBJECT, file_copy_delete);
	*out = m;
	return 0;
}

int inspect_elf(const char *path, struct tenon_slice file, struct tenon_object *keep,
		struct tenon_module **out)
{
	struct blob_source src = { .file = path, .keep = keep, .inspect = true };
	struct library_symbols symbols;
	struct tenon_module *library;
	struct tenon_slice blob;
	struct elf_file elf;
	int err;

	*out = NULL;
	err = file_open_elf(&elf, file, path);
	if (err)
		return err;
	err = library_symbols_read(&elf, &symbols);
	if (err)
		return err;
	if (symbols.has_blob) {
		err = elf_symbol_bytes(&elf, &symbols.blob, &blob);
		if (err)
			return err;
	}
	err = library_module_inspect(&elf, &symbols, keep, &library);
	if (err)
		return err;
	if (!symbols.has_blob) {
		*out = library;
		return 0;
	}
	src.offset = (uint64_t)(blob.data - file.data);
	src.generation = symbols.blob_generation;
	err = import_tree_read(blob, &src, library, out);
	tenon_object_unref(library);
	return err ? tenon_error_in(err, "%s", path) : 0;
}

int describe_module(const char *path, struct tenon_object **keep, struct tenon_slice *bytes,
		    struct tenon_module **out)
{
	struct file_copy *copy = NULL;
	int err;

	*out = NULL;
	*keep = NULL;
	err = file_copy_open(path, &copy);
	if (err)
		return err;
	*bytes = copy->bytes;
	*keep = &copy->object;
	/* The loader of a non-ELF format can read the file: it contains no code to run. */
	if (!file_is_elf(copy->bytes))
		err = file_load(path, out);
	if (!err && !*out)
		err = inspect_elf(path, copy->bytes, &copy->object, out);
	return err;
}
