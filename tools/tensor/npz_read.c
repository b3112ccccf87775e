/* SPDX-License-Identifier: MIT */
/* Unpack the arrays of a file by libzip, with limits for their sizes. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tenon/string.h>
#include <tenon/tensor.h>
#include <zip.h>

#include "tools/tensor/array_file.h"
#include "tools/tensor/npz.h"

/* a deflated byte unpacks to at most 1032 bytes */
#define DEFLATE_MOST 1032
/* limit on entries; no model has as many parameters */
#define ENTRIES_MOST (1 << 20)

struct archive {
	const char *path;
	zip_t *zip;
	uint64_t size; /* of the file */
	uint64_t left; /* bytes that entries may still unpack to */
};

/* Test for lack of memory: libzip reports some failed allocations as "not a zip archive". */
static bool ran_out(int code)
{
	return code == ZIP_ER_MEMORY || errno == ENOMEM;
}

static int no_memory(const char *path)
{
	return tenon_error(-TENON_E_NOMEM, "%s: no memory to unpack it", path);
}

static int open_error(const char *path, int code)
{
	zip_error_t error;
	int err;

	if (ran_out(code))
		return no_memory(path);
	zip_error_init_with_code(&error, code);
	if (code == ZIP_ER_OPEN || code == ZIP_ER_NOENT || code == ZIP_ER_READ)
		err = tenon_error(-TENON_E_IO, "%s: cannot open: %s", path,
				  zip_error_strerror(&error));
	else if (code == ZIP_ER_EXISTS)
		err = tenon_error(-TENON_E_EXISTS, "%s: two arrays of one name", path);
	else
		err = tenon_error(-TENON_E_FORMAT, "%s: no whole zip file, as .npz files are: %s",
				  path, zip_error_strerror(&error));
	zip_error_fini(&error);
	return err;
}

static int archive_open(const char *path, struct archive *a)
{
	struct stat st;
	int code = 0;

	a->path = path;
	errno = 0;
	a->zip = zip_open(path, ZIP_RDONLY | ZIP_CHECKCONS, &code);
	if (!a->zip)
		return open_error(path, code);
	a->size = stat(path, &st) ? 0 : (uint64_t)st.st_size;
	a->left = NPZ_BYTES_MOST;
	if (a->size > NPZ_BYTES_MOST / NPZ_RATIO_MOST)
		a->left = a->size > UINT64_MAX / NPZ_RATIO_MOST ? UINT64_MAX
								: a->size * NPZ_RATIO_MOST;
	return 0;
}

static int entry_error(const struct archive *a, const char *entry, const char *what)
{
	return tenon_error(-TENON_E_FORMAT, "%s: \"%s\": %s", a->path, entry, what);
}

/* Check that the size in an entry is possible before allocating it. */
static int check_entry(const struct archive *a, const zip_stat_t *st)
{
	const uint64_t wanted =
		ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
	size_t length;

	if ((st->valid & wanted) != wanted)
		return tenon_error(-TENON_E_FORMAT, "%s: an entry that does not describe itself",
				   a->path);
	length = strlen(st->name);
	if (length <= 4 || strcmp(st->name + length - 4, ".npy"))
		return entry_error(a, st->name,
				   "no array: a .npz file holds files called NAME.npy alone");
	if ((st->valid & ZIP_STAT_ENCRYPTION_METHOD) && st->encryption_method != ZIP_EM_NONE)
		return tenon_error(-TENON_E_UNSUPPORTED, "%s: \"%s\" is encrypted", a->path,
				   st->name);
	if (st->comp_method != ZIP_CM_STORE && st->comp_method != ZIP_CM_DEFLATE)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: \"%s\" is packed by method %u; numpy stores or deflates",
				   a->path, st->name, st->comp_method);
	if (st->comp_size > a->size || st->size / DEFLATE_MOST > st->comp_size ||
	    (st->comp_method == ZIP_CM_STORE && st->size != st->comp_size))
		return tenon_error(-TENON_E_FORMAT,
				   "%s: \"%s\" promises %" PRIu64 " bytes, packed in %" PRIu64
				   " of a file of %" PRIu64 ": they cannot be there",
				   a->path, st->name, st->size, st->comp_size, a->size);
	if (st->size > a->left)
		return tenon_error(-TENON_E_OVERFLOW,
				   "%s: at \"%s\" the arrays are larger than %" PRIu64
				   " MiB and %d times the file: write it with numpy.savez() if you "
				   "trust it",
				   a->path, st->name, NPZ_BYTES_MOST >> 20, NPZ_RATIO_MOST);
	if (st->size >= SIZE_MAX)
		return tenon_error(-TENON_E_NOMEM, "%s: \"%s\": no memory for %" PRIu64 " bytes",
				   a->path, st->name, st->size);
	return 0;
}

static int unpack_error(const struct archive *a, const char *entry, zip_error_t *error)
{
	if (ran_out(zip_error_code_zip(error)))
		return no_memory(a->path);
	return entry_error(a, entry, zip_error_strerror(error));
}

/* Unpack an entry. Read up to its end, because only there libzip verifies the checksum. */
static int unpack(const struct archive *a, const char *entry, zip_file_t *file, char *to,
		  size_t size)
{
	size_t have = 0;
	zip_int64_t n;
	char more;

	while (have < size) {
		n = zip_fread(file, to + have, size - have);
		if (n < 0)
			return unpack_error(a, entry, zip_file_get_error(file));
		if (!n)
			return entry_error(a, entry, "its data ends before its size");
		have += (size_t)n;
	}
	n = zip_fread(file, &more, 1);
	if (n < 0)
		return unpack_error(a, entry, zip_file_get_error(file));
	return n ? entry_error(a, entry, "its data goes on behind its size") : 0;
}

static int read_bytes(const struct archive *a, zip_uint64_t index, const zip_stat_t *st, char **out)
{
	zip_file_t *file;
	int err;

	*out = malloc((size_t)st->size + 1);
	if (!*out)
		return tenon_error(-TENON_E_NOMEM, "%s: \"%s\": no memory for %" PRIu64 " bytes",
				   a->path, st->name, st->size);
	errno = 0;
	file = zip_fopen_index(a->zip, index, 0);
	if (!file)
		return unpack_error(a, st->name, zip_get_error(a->zip));
	err = unpack(a, st->name, file, *out, (size_t)st->size);
	zip_fclose(file);
	return err;
}

static int read_entry(struct archive *a, zip_uint64_t index, struct npz *out)
{
	struct tenon_param *p = &out->params[index];
	char *bytes = NULL, label[512];
	zip_stat_t st;
	int err;

	zip_stat_init(&st);
	if (zip_stat_index(a->zip, index, 0, &st))
		return tenon_error(-TENON_E_FORMAT, "%s: entry %" PRIu64 ": %s", a->path,
				   (uint64_t)index, zip_error_strerror(zip_get_error(a->zip)));
	err = check_entry(a, &st);
	if (err)
		return err;
	a->left -= st.size;
	out->names[index] = strndup(st.name, strlen(st.name) - 4);
	if (!out->names[index])
		return tenon_error(-TENON_E_NOMEM, "no memory for a name");
	snprintf(label, sizeof(label), "%s: \"%s\"", a->path, st.name);
	err = read_bytes(a, index, &st, &bytes);
	if (!err)
		err = array_file_bytes((struct tenon_slice){ bytes, (size_t)st.size }, label,
				       &out->tensors[index]);
	free(bytes);
	if (err)
		return err;
	p->name = tenon_slice_of(out->names[index]);
	p->tensor = out->tensors[index]->dl;
	return tenon_tensor_bytes(&p->tensor, &p->bytes);
}

static int read_all(struct archive *a, struct npz *out)
{
	zip_int64_t count = zip_get_num_entries(a->zip, 0), i;
	size_t room = (size_t)count + 1;
	int err = 0;

	if (count < 0 || count > ENTRIES_MOST)
		return tenon_error(-TENON_E_FORMAT, "%s: %" PRIi64 " entries, %d at most", a->path,
				   (int64_t)count, ENTRIES_MOST);
	if (!count)
		return tenon_error(-TENON_E_FORMAT, "%s: no array is in it", a->path);
	out->params = calloc(room, sizeof(*out->params));
	out->tensors = calloc(room, sizeof(struct tenon_tensor *));
	out->names = calloc(room, sizeof(*out->names));
	if (!out->params || !out->tensors || !out->names)
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIi64 " arrays",
				   (int64_t)count);
	for (i = 0; i < count && !err; i++) {
		out->count++;
		err = read_entry(a, (zip_uint64_t)i, out);
	}
	return err;
}

int npz_read(const char *path, struct npz *out)
{
	struct archive a;
	int err;

	memset(out, 0, sizeof(*out));
	err = archive_open(path, &a);
	if (err)
		return err;
	err = read_all(&a, out);
	zip_discard(a.zip);
	return err;
}

void npz_fini(struct npz *npz)
{
	size_t i;

	for (i = 0; i < npz->count; i++) {
		tenon_object_unref(npz->tensors[i]);
		free(npz->names[i]);
	}
	free(npz->params);
	free(npz->tensors);
	free(npz->names);
	memset(npz, 0, sizeof(*npz));
}
