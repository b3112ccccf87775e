/* SPDX-License-Identifier: MIT */
/* Pack arrays into one file by libzip, stored as numpy.savez() does. */
#include <stdlib.h>
#include <tenon/tensor.h>
#include <zip.h>

#include "tools/file/output.h"
#include "tools/tensor/npy.h"
#include "tools/tensor/npz.h"

/* 1 January 1980, which numpy writes, too: the same arrays make the same file */
#define DOS_DATE 0x21

/**
 * struct packing - a file being made, in memory
 * @path: for messages
 * @zip: the archive
 * @made: where libzip writes it
 * @arrays: the bytes of each array, until the archive is closed
 */
struct packing {
	const char *path;
	zip_t *zip;
	zip_source_t *made;
	struct npy_bytes *arrays;
};

static int zip_failed(const struct packing *p, zip_error_t *error)
{
	if (zip_error_code_zip(error) == ZIP_ER_MEMORY)
		return tenon_error(-TENON_E_NOMEM, "%s: no memory to pack it", p->path);
	return tenon_error(-TENON_E_VALUE, "%s: %s", p->path, zip_error_strerror(error));
}

static int begin(struct packing *p)
{
	zip_error_t error;
	int err = 0;

	zip_error_init(&error);
	p->made = zip_source_buffer_create(NULL, 0, 0, &error);
	if (p->made)
		p->zip = zip_open_from_source(p->made, ZIP_TRUNCATE, &error);
	if (p->zip)
		zip_source_keep(p->made);
	else
		err = zip_failed(p, &error);
	zip_error_fini(&error);
	return err;
}

static int add(struct packing *p, const struct tenon_param *param, struct npy_bytes *array)
{
	zip_buffer_fragment_t parts[2];
	zip_source_t *source;
	zip_int64_t index;
	char *name;
	int err = npy_bytes_make(&param->tensor, array);

	if (err)
		return tenon_error_in(err, "%.*s", (int)param->name.size, param->name.data);
	if (asprintf(&name, "%.*s.npy", (int)param->name.size, param->name.data) < 0)
		return tenon_error(-TENON_E_NOMEM, "no memory for a name");
	parts[0] = (zip_buffer_fragment_t){ (zip_uint8_t *)array->header.data, array->header.size };
	parts[1] = (zip_buffer_fragment_t){ (zip_uint8_t *)(uintptr_t)array->data.data,
					    array->data.size };
	source = zip_source_buffer_fragment(p->zip, parts, 2, 0);
	index = source ? zip_file_add(p->zip, name, source, ZIP_FL_ENC_UTF_8) : -1;
	if (index < 0) {
		zip_source_free(source);
		err = zip_failed(p, zip_get_error(p->zip));
	} else if (zip_set_file_compression(p->zip, (zip_uint64_t)index, ZIP_CM_STORE, 0) ||
		   zip_file_set_dostime(p->zip, (zip_uint64_t)index, 0, DOS_DATE, 0)) {
		err = zip_failed(p, zip_get_error(p->zip));
	}
	free(name);
	return err;
}

/* Have libzip write the archive to memory, and that to the file. */
static int finish(struct packing *p)
{
	struct tenon_slice whole = { NULL, 0 };
	zip_stat_t st;
	char *bytes;
	int err;

	if (zip_close(p->zip))
		return zip_failed(p, zip_get_error(p->zip));
	p->zip = NULL;
	if (zip_source_stat(p->made, &st) || zip_source_open(p->made))
		return zip_failed(p, zip_source_error(p->made));
	bytes = malloc((size_t)st.size + 1);
	whole = (struct tenon_slice){ bytes, (size_t)st.size };
	if (!bytes)
		err = tenon_error(-TENON_E_NOMEM, "%s: no memory for %zu bytes", p->path,
				  whole.size);
	else if (zip_source_read(p->made, bytes, st.size) != (zip_int64_t)st.size)
		err = zip_failed(p, zip_source_error(p->made));
	else
		err = output_write(p->path, &whole, 1);
	zip_source_close(p->made);
	free(bytes);
	return err;
}

int npz_write(const char *path, const struct tenon_param *params, size_t count)
{
	struct packing p = { .path = path };
	size_t i;
	int err;

	p.arrays = calloc(count + 1, sizeof(*p.arrays));
	if (!p.arrays)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu arrays", count);
	err = begin(&p);
	for (i = 0; i < count && !err; i++)
		err = add(&p, &params[i], &p.arrays[i]);
	if (!err)
		err = finish(&p);
	if (p.zip)
		zip_discard(p.zip);
	zip_source_free(p.made);
	for (i = 0; i < count; i++)
		npy_bytes_fini(&p.arrays[i]);
	free(p.arrays);
	return err;
}
