/* SPDX-License-Identifier: MIT */
/*
 * Weights in files beside a model. The list of them, tensor-cache.json, is not trusted: sizes are
 * checked against dtype, shape and the files.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <tenon/memory.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/json_read.h"
#include "lib/slice_text.h"
#include "runtime/model/tensor_place.h"
#include "runtime/relax/relax_weights.h"

#define LIST_MOST (64 << 20) /* bytes of a list */
#define ALIGNMENT 64	     /* of tensors that compiled code takes */

/* ---- files */

/* a file of weights, or the list of them */
struct source {
	char path[4096];
	int fd;
	uint64_t size;
};

static int set_path(struct tenon_slice folder, struct tenon_slice file, struct source *s)
{
	int n = snprintf(s->path, sizeof(s->path), "%.*s/%.*s", (int)folder.size, folder.data,
			 (int)file.size, file.data);

	if (n < 0 || (size_t)n >= sizeof(s->path))
		return tenon_error(-TENON_E_VALUE, "the path of a folder is too long");
	return 0;
}

static int open_source(struct tenon_slice folder, struct tenon_slice file, struct source *s)
{
	struct stat st;
	int err;

	s->fd = -1;
	err = set_path(folder, file, s);
	if (err)
		return err;
	s->fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (s->fd < 0)
		return tenon_error(-TENON_E_IO, "%s: %s", s->path, strerror(errno));
	if (fstat(s->fd, &st) || !S_ISREG(st.st_mode)) {
		close(s->fd);
		s->fd = -1;
		return tenon_error(-TENON_E_IO, "%s: not a regular file", s->path);
	}
	s->size = (uint64_t)st.st_size;
	return 0;
}

static void close_source(struct source *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static int read_source(const struct source *s, void *to, size_t size, uint64_t offset)
{
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = pread(s->fd, (char *)to + done, size - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return tenon_error(-TENON_E_IO, "%s at 0x%" PRIx64 ": %s", s->path,
					   offset + done,
					   n ? strerror(errno) : "the file ends early");
		done += (size_t)n;
	}
	return 0;
}

/* ---- mapped files */

/* The pages of a file, which the tensors in them keep. */
struct mapping {
	struct tenon_object object;
	char *bytes;
	size_t size;
};

static void mapping_delete(void *self, int flags)
{
	struct mapping *m = self;

	if (!(flags & TENON_DELETE_MEMORY))
		return;
	munmap(m->bytes, m->size);
	free(m);
}

/*
 * Map a file; NULL where that fails, and it has to be read. Pages are private: code that writes to a
 * weight changes its own copy of a page.
 */
static struct mapping *map_source(const struct source *s)
{
	const size_t size = (size_t)s->size;
	struct mapping *m;
	void *bytes;

	if (!size || size != s->size)
		return NULL;
	m = malloc(sizeof(*m));
	if (!m)
		return NULL;
	m->size = size;
	bytes = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, s->fd, 0);
	if (bytes == MAP_FAILED) {
		free(m);
		return NULL;
	}
	m->bytes = bytes;
	tenon_object_init(&m->object, TENON_TYPE_OBJECT, mapping_delete);
	return m;
}

/* A file's name: in the folder itself, or in folders below. */
static bool is_below(struct tenon_slice path)
{
	size_t i, start = 0;

	if (!path.size || path.data[0] == '/' || memchr(path.data, 0, path.size))
		return false;
	for (i = 0; i <= path.size; i++) {
		if (i < path.size && path.data[i] != '/')
			continue;
		if (i - start == 2 && !memcmp(path.data + start, "..", 2))
			return false;
		start = i + 1;
	}
	return true;
}

/* ---- the list */

/* an entry of the list: a file, or a tensor in it */
struct record {
	struct tenon_slice name; /* of a tensor; a file's path */
	struct tenon_slice format;
	struct tenon_slice dtype;
	int64_t bytes;
	int64_t offset;
	uint32_t records; /* position of a file's tensors; 0 for none */
	int64_t shape[64];
	int32_t ndim;
};

struct list {
	struct json_text t;
	char *strings; /* the next free byte for strings */
	char *room;
	struct tenon_slice folder;
	DLDevice device;
};

static int read_shape(struct list *l, uint32_t *at, struct record *r)
{
	uint32_t count, i;
	int err = json_enter(&l->t, at, JSMN_ARRAY, "a shape", &count);

	if (!err && count > 64)
		err = json_error(&l->t, *at, -TENON_E_FORMAT, "%" PRIu32 " dimensions", count);
	for (i = 0; !err && i < count; i++)
		err = json_integer(&l->t, at, "an extent", 0, INT64_MAX, &r->shape[i]);
	r->ndim = (int32_t)(err ? 0 : count);
	return err;
}

static int read_record(struct list *l, uint32_t *at, struct record *r)
{
	struct tenon_slice key;
	uint32_t count;
	int err;

	memset(r, 0, sizeof(*r));
	r->bytes = -1;
	err = json_enter(&l->t, at, JSMN_OBJECT, "a record", &count);
	while (json_next(&l->t, at, &count, &key, &err)) {
		if (slice_is(key, "dataPath") || slice_is(key, "name"))
			err = json_string(&l->t, at, "a name", &l->strings, &r->name);
		else if (slice_is(key, "format"))
			err = json_string(&l->t, at, "a format", &l->strings, &r->format);
		else if (slice_is(key, "dtype"))
			err = json_string(&l->t, at, "a dtype", &l->strings, &r->dtype);
		else if (slice_is(key, "nbytes"))
			err = json_integer(&l->t, at, "a size", 0, INT64_MAX, &r->bytes);
		else if (slice_is(key, "byteOffset"))
			err = json_integer(&l->t, at, "an offset", 0, INT64_MAX, &r->offset);
		else if (slice_is(key, "shape"))
			err = read_shape(l, at, r);
		else {
			if (slice_is(key, "records"))
				r->records = *at;
			json_skip(&l->t, at);
		}
	}
	if (!err && (!r->name.size || r->bytes < 0))
		err = json_error(&l->t, *at ? *at - 1 : 0, -TENON_E_FORMAT,
				 "a record without name or nbytes");
	return err;
}

/* Convert the upper halves of float32 numbers in place, from the end. */
static void widen(char *data, uint64_t elements)
{
	uint32_t whole;
	uint16_t half;

	while (elements-- > 0) {
		memcpy(&half, data + elements * 2, 2);
		whole = (uint32_t)half << 16;
		memcpy(data + elements * 4, &whole, 4);
	}
}

/* Bytes in the file that a tensor of the list needs. */
static int check_record(const struct source *s, const struct record *r, const DLTensor *t,
			bool *halves)
{
	uint64_t elements;
	size_t bytes;
	int err = tenon_tensor_bytes(t, &bytes);

	if (!err)
		err = tenon_tensor_elements(t, &elements);
	if (err)
		return err;
	if (r->format.size && !slice_is(r->format, "raw") && !slice_is(r->format, "f32-to-bf16"))
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "format \"%.*s\"; known are raw and f32-to-bf16",
				   json_shown(r->format), r->format.data);
	/* Writers put this format on other dtypes too, whose bytes are plain. */
	*halves = slice_is(r->format, "f32-to-bf16") && slice_is(r->dtype, "float32");
	if (*halves)
		bytes = (size_t)elements * 2;
	if ((uint64_t)r->bytes != bytes)
		return tenon_error(-TENON_E_FORMAT,
				   "%" PRIi64 " bytes are stated, dtype and shape need %zu",
				   r->bytes, bytes);
	if ((uint64_t)r->offset > s->size || bytes > s->size - (uint64_t)r->offset)
		return tenon_error(-TENON_E_TRUNCATED,
				   "%zu bytes at 0x%" PRIx64 " of a file of %" PRIu64, bytes,
				   (uint64_t)r->offset, s->size);
	return 0;
}

/* Read a tensor of a checked record. */
static int read_tensor(const struct source *s, const struct record *r, DLDataType dtype,
		       bool halves, struct tenon_tensor **out)
{
	uint64_t elements = 0;
	int err = tenon_tensor_create(r->shape, r->ndim, dtype, out);

	if (!err)
		err = read_source(s, (*out)->dl.data, (size_t)r->bytes, (uint64_t)r->offset);
	if (err || !halves)
		return err;
	tenon_tensor_elements(&(*out)->dl, &elements);
	widen((*out)->dl.data, elements);
	return 0;
}

static int load_tensor(struct list *l, const struct source *s, struct mapping *m,
		       const struct record *r)
{
	DLTensor like = tenon_dltensor(NULL, (int64_t *)(uintptr_t)r->shape, r->ndim,
				       (DLDataType){ 0, 0, 0 });
	struct tenon_tensor *t = NULL, *moved;
	bool halves = false;
	size_t bytes;
	int err;

	err = tenon_dtype_parse(r->dtype, &like.dtype);
	if (!err)
		err = check_record(s, r, &like, &halves);
	if (!err && m && !halves && r->bytes && r->offset % ALIGNMENT == 0) {
		like.data = m->bytes + (size_t)r->offset;
		err = tenon_tensor_view(&like, &m->object, &t);
	} else if (!err) {
		err = read_tensor(s, r, like.dtype, halves, &t);
	}
	if (!err && !place_is_host(l->device)) {
		err = tenon_tensor_create_on(l->device, r->shape, r->ndim, like.dtype, &moved);
		if (!err)
			err = tenon_tensor_bytes(&t->dl, &bytes);
		if (!err)
			err = place_copy(&t->dl, &moved->dl, bytes);
		tenon_object_unref(t);
		t = moved;
	}
	if (err)
		tenon_object_unref(t);
	else
		err = relax_weights_insert(r->name, t, true);
	return err ? tenon_error_in(err, "tensor \"%.*s\"", json_shown(r->name), r->name.data) : 0;
}

static int load_file(struct list *l, const struct record *file)
{
	uint32_t at = file->records, count, i;
	struct mapping *m = NULL;
	struct record *r;
	struct source s;
	int err;

	if (!slice_is(file->format, "raw-shard") || !at || !is_below(file->name))
		return tenon_error(
			-TENON_E_FORMAT,
			"%s: file \"%.*s\" has format \"%.*s\"; want \"raw-shard\", a list of "
			"records and a path below the folder",
			l->t.name, json_shown(file->name), file->name.data,
			json_shown(file->format), file->format.data);
	err = open_source(l->folder, file->name, &s);
	if (err)
		return err;
	r = malloc(sizeof(*r));
	if (!r)
		err = tenon_error(-TENON_E_NOMEM, "no memory for a record");
	if (!err && s.size != (uint64_t)file->bytes)
		err = tenon_error(-TENON_E_FORMAT, "%" PRIu64 " bytes; its list states %" PRIi64,
				  s.size, file->bytes);
	if (!err)
		err = json_enter(&l->t, &at, JSMN_ARRAY, "records", &count);
	/* what goes to a device is copied anyway, and a read reports a file that was cut */
	if (!err && place_is_host(l->device))
		m = map_source(&s);
	for (i = 0; !err && i < count; i++) {
		err = read_record(l, &at, r);
		if (!err)
			err = load_tensor(l, &s, m, r);
	}
	tenon_object_unref(m);
	free(r);
	close_source(&s);
	return err ? tenon_error_in(err, "%s", s.path) : 0;
}

static int load_files(struct list *l)
{
	uint32_t at = 0, count, files, i, k;
	struct record *file = malloc(sizeof(*file));
	struct tenon_slice key;
	int err = file ? json_enter(&l->t, &at, JSMN_OBJECT, "a list of weights", &count)
		       : tenon_error(-TENON_E_NOMEM, "no memory for a record");

	for (i = 0; !err && i < count; i++) {
		err = json_key(&l->t, &at, &key);
		if (!err && !slice_is(key, "records")) {
			json_skip(&l->t, &at);
			continue;
		}
		if (!err)
			err = json_enter(&l->t, &at, JSMN_ARRAY, "files", &files);
		for (k = 0; !err && k < files; k++) {
			err = read_record(l, &at, file);
			if (!err)
				err = load_file(l, file);
		}
	}
	free(file);
	return err;
}

static int load_list(struct tenon_slice folder, struct source *s, DLDevice device)
{
	struct list l = { .folder = folder, .device = device };
	struct tenon_slice text;
	char *bytes;
	int err;

	if (s->size > LIST_MOST)
		return tenon_error(-TENON_E_OVERFLOW, "%s: %" PRIu64 " bytes", s->path, s->size);
	bytes = malloc((size_t)s->size + 1);
	/* Strings and their final NULs take less than the text. */
	l.room = l.strings = malloc((size_t)s->size + 1);
	text = (struct tenon_slice){ bytes, (size_t)s->size };
	err = bytes && l.room ? read_source(s, bytes, text.size, 0)
			      : tenon_error(-TENON_E_NOMEM, "no memory for %s", s->path);
	if (!err)
		err = json_text_read(text, s->path, &l.t);
	if (!err) {
		err = load_files(&l);
		json_text_fini(&l.t);
	}
	free(l.room);
	free(bytes);
	return err;
}

/* Open the list of weights; messages name the file of today, unless only the older one is there. */
static int open_list(struct tenon_slice folder, struct source *s)
{
	/* the name until TVM 0.21 */
	static const char old[] = "ndarray-cache.json";
	struct tenon_slice name = tenon_slice_of("tensor-cache.json");
	int err = set_path(folder, name, s);

	s->fd = -1;
	if (!err && access(s->path, F_OK)) {
		err = set_path(folder, tenon_slice_of(old), s);
		if (!err && !access(s->path, F_OK))
			name = tenon_slice_of(old);
	}
	return err ? err : open_source(folder, name, s);
}

int relax_weights_load(struct tenon_slice folder, DLDevice device)
{
	struct source *s = malloc(sizeof(*s));
	int err;

	if (!s)
		return tenon_error(-TENON_E_NOMEM, "no memory for a path");
	err = open_list(folder, s);
	if (!err)
		err = load_list(folder, s, device);
	close_source(s);
	free(s);
	return err;
}
