/* SPDX-License-Identifier: MIT */
/*
 * vm.builtin.tensor_cache.*: weights in files beside a model, by name. The list of them,
 * tensor-cache.json, is not trusted: sizes are checked against dtype, shape and the files.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <tenon/memory.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/fork_gate.h"
#include "lib/json_read.h"
#include "runtime/model/tensor_place.h"
#include "runtime/relax/relax.h"
#include "runtime/relax/relax_builtin.h"

#define LIST_MOST (64 << 20) /* bytes of a list */

/* ---- weights by name, of the process */

struct weight {
	char *name;
	struct tenon_tensor *tensor;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct weight *weights; /* ordered by name */
static size_t weight_count, weight_room;

static int compare(const char *name, struct tenon_slice with)
{
	size_t size = strlen(name);
	int order = memcmp(name, with.data, size < with.size ? size : with.size);

	return order ? order : size < with.size ? -1 : size > with.size;
}

/* Place of a name: where it is, or where it would be. */
static size_t place_of(struct tenon_slice name, bool *there)
{
	size_t low = 0, high = weight_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (compare(weights[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*there = low < weight_count && !compare(weights[low].name, name);
	return low;
}

/* Insert a weight, whose reference moves to the list. Caller holds the lock. */
static int insert_locked(struct tenon_slice name, struct tenon_tensor *t, bool replace)
{
	size_t room = weight_room ? weight_room * 2 : 64;
	struct weight *more;
	bool there;
	size_t at = place_of(name, &there);
	char *copy;

	if (there && !replace)
		return tenon_error(-TENON_E_EXISTS, "a tensor \"%.*s\" exists", (int)name.size,
				   name.data);
	if (there) {
		tenon_object_unref(weights[at].tensor);
		weights[at].tensor = t;
		return 0;
	}
	copy = strndup(name.data, name.size);
	more = copy && weight_count == weight_room ? realloc(weights, room * sizeof(*more))
						   : weights;
	if (!copy || !more) {
		free(copy);
		return tenon_error(-TENON_E_NOMEM, "no memory for the name of a tensor");
	}
	if (weight_count == weight_room)
		weight_room = room;
	weights = more;
	memmove(weights + at + 1, weights + at, (weight_count - at) * sizeof(*weights));
	weights[at] = (struct weight){ copy, t };
	weight_count++;
	return 0;
}

static int insert(struct tenon_slice name, struct tenon_tensor *t, bool replace)
{
	int err;

	fork_gate_lock(&lock);
	err = insert_locked(name, t, replace);
	fork_gate_unlock(&lock);
	if (err)
		tenon_object_unref(t);
	return err;
}

/* Find a weight; the caller gets a reference. NULL without an error. */
static struct tenon_tensor *find(struct tenon_slice name)
{
	struct tenon_tensor *t = NULL;
	bool there;
	size_t at;

	fork_gate_lock(&lock);
	at = place_of(name, &there);
	if (there) {
		t = weights[at].tensor;
		tenon_object_ref(t);
	}
	fork_gate_unlock(&lock);
	return t;
}

static void remove_weight(struct tenon_slice name)
{
	struct weight gone = { NULL, NULL };
	bool there;
	size_t at;

	fork_gate_lock(&lock);
	at = place_of(name, &there);
	if (there) {
		gone = weights[at];
		weight_count--;
		memmove(weights + at, weights + at + 1, (weight_count - at) * sizeof(*weights));
	}
	fork_gate_unlock(&lock);
	free(gone.name);
	tenon_object_unref(gone.tensor);
}

static void clear_weights(void)
{
	struct weight *list;
	size_t count, i;

	fork_gate_lock(&lock);
	list = weights;
	count = weight_count;
	weights = NULL;
	weight_count = weight_room = 0;
	fork_gate_unlock(&lock);
	for (i = 0; i < count; i++) {
		free(list[i].name);
		tenon_object_unref(list[i].tensor);
	}
	free(list);
}

/* ---- files */

/* a file of weights, or the list of them */
struct source {
	char path[4096];
	int fd;
	uint64_t size;
};

static int open_source(struct tenon_slice folder, struct tenon_slice file, struct source *s)
{
	struct stat st;
	int n;

	s->fd = -1;
	n = snprintf(s->path, sizeof(s->path), "%.*s/%.*s", (int)folder.size, folder.data,
		     (int)file.size, file.data);
	if (n < 0 || (size_t)n >= sizeof(s->path))
		return tenon_error(-TENON_E_VALUE, "the path of a folder is too long");
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

static bool is(struct tenon_slice s, const char *word)
{
	return tenon_slice_equal(s, tenon_slice_of(word));
}

static int read_record(struct list *l, uint32_t *at, struct record *r)
{
	struct tenon_slice key;
	uint32_t count, i;
	int err;

	memset(r, 0, sizeof(*r));
	r->bytes = -1;
	err = json_enter(&l->t, at, JSMN_OBJECT, "a record", &count);
	for (i = 0; i < count && !err; i++) {
		err = json_key(&l->t, at, &key);
		if (err)
			break;
		if (is(key, "dataPath") || is(key, "name"))
			err = json_string(&l->t, at, "a name", &l->strings, &r->name);
		else if (is(key, "format"))
			err = json_string(&l->t, at, "a format", &l->strings, &r->format);
		else if (is(key, "dtype"))
			err = json_string(&l->t, at, "a dtype", &l->strings, &r->dtype);
		else if (is(key, "nbytes"))
			err = json_integer(&l->t, at, "a size", 0, INT64_MAX, &r->bytes);
		else if (is(key, "byteOffset"))
			err = json_integer(&l->t, at, "an offset", 0, INT64_MAX, &r->offset);
		else if (is(key, "shape"))
			err = read_shape(l, at, r);
		else {
			if (is(key, "records"))
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
	/* Writers put this format on other dtypes too, whose bytes are plain. */
	*halves = is(r->format, "f32-to-bf16") && is(r->dtype, "float32");
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

static int load_tensor(struct list *l, const struct source *s, const struct record *r)
{
	DLTensor like = tenon_dltensor(NULL, (int64_t *)(uintptr_t)r->shape, r->ndim,
				       (DLDataType){ 0, 0, 0 });
	struct tenon_tensor *t = NULL, *moved;
	uint64_t elements = 0;
	size_t bytes;
	bool halves;
	int err;

	err = tenon_dtype_parse(r->dtype, &like.dtype);
	if (!err)
		err = check_record(s, r, &like, &halves);
	if (!err)
		err = tenon_tensor_create(r->shape, r->ndim, like.dtype, &t);
	if (!err)
		err = read_source(s, t->dl.data, (size_t)r->bytes, (uint64_t)r->offset);
	if (!err && halves) {
		tenon_tensor_elements(&t->dl, &elements);
		widen(t->dl.data, elements);
	}
	if (!err && !place_is_host(l->device)) {
		err = tenon_tensor_create_on(l->device, r->shape, r->ndim, like.dtype, &moved);
		if (!err)
			err = tenon_tensor_bytes(&t->dl, &bytes);
		if (!err)
			err = place_copy(&t->dl, &moved->dl, bytes);
		tenon_object_unref(t);
		t = err ? NULL : moved;
	}
	if (err)
		tenon_object_unref(t);
	else
		err = insert(r->name, t, true);
	return err ? tenon_error_in(err, "tensor \"%.*s\"", json_shown(r->name), r->name.data) : 0;
}

static int load_file(struct list *l, const struct record *file)
{
	uint32_t at = file->records, count, i;
	struct record *r;
	struct source s;
	int err;

	if (!is(file->format, "raw-shard") || !at || !is_below(file->name))
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
	for (i = 0; !err && i < count; i++) {
		err = read_record(l, &at, r);
		if (!err)
			err = load_tensor(l, &s, r);
	}
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
		if (!err && !is(key, "records")) {
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

/* ---- builtins */

/* tensor_cache.load(folder, device type, device number) */
int relax_builtin_tensor_cache_load(void *self, const struct tenon_value *args, int32_t count,
				    struct tenon_value *ret)
{
	const struct relax_arguments a = { "tensor_cache.load", args, count };
	struct tenon_slice folder;
	struct source *s;
	int64_t type, id;
	int err;

	(void)self;
	*ret = tenon_arg_none();
	err = relax_arguments_count(&a, 3, 3);
	if (!err)
		err = relax_argument_text(&a, 0, &folder);
	if (!err && memchr(folder.data, 0, folder.size))
		err = relax_argument_refuse(&a, 0, tenon_error(-TENON_E_VALUE, "a zero byte"));
	if (!err)
		err = relax_argument_range(&a, 1, 1, INT32_MAX, &type);
	if (!err)
		err = relax_argument_range(&a, 2, 0, INT32_MAX, &id);
	if (err)
		return err;
	s = malloc(sizeof(*s));
	if (!s)
		return tenon_error(-TENON_E_NOMEM, "no memory for a path");
	err = open_source(folder, tenon_slice_of("tensor-cache.json"), s);
	if (err == -TENON_E_IO) {
		/* the name until TVM 0.21 */
		tenon_error_clear();
		err = open_source(folder, tenon_slice_of("ndarray-cache.json"), s);
	}
	if (!err)
		err = load_list(folder, s, (DLDevice){ (DLDeviceType)type, (int32_t)id });
	close_source(s);
	free(s);
	return err ? tenon_error_in(err, "%s", a.name) : 0;
}

/* tensor_cache.get(name) -> tensor or None */
int relax_builtin_tensor_cache_get(void *self, const struct tenon_value *args, int32_t count,
				   struct tenon_value *ret)
{
	const struct relax_arguments a = { "tensor_cache.get", args, count };
	struct tenon_slice name;
	int err;

	(void)self;
	*ret = tenon_arg_none();
	err = relax_arguments_count(&a, 1, 1);
	if (!err)
		err = relax_argument_text(&a, 0, &name);
	if (!err)
		*ret = tenon_arg_object(find(name));
	return err;
}

/* tensor_cache.update(name, tensor [, override]) */
int relax_builtin_tensor_cache_update(void *self, const struct tenon_value *args, int32_t count,
				      struct tenon_value *ret)
{
	const struct relax_arguments a = { "tensor_cache.update", args, count };
	struct tenon_slice name;
	struct tenon_tensor *t;
	int64_t replace = 0;
	int err;

	(void)self;
	*ret = tenon_arg_none();
	err = relax_arguments_count(&a, 2, 3);
	if (!err)
		err = relax_argument_text(&a, 0, &name);
	if (!err)
		err = relax_argument_tensor_object(&a, 1, &t);
	if (!err && count == 3)
		err = relax_argument_int(&a, 2, &replace);
	if (err)
		return err;
	tenon_object_ref(t);
	return insert(name, t, replace);
}

int relax_builtin_tensor_cache_remove(void *self, const struct tenon_value *args, int32_t count,
				      struct tenon_value *ret)
{
	const struct relax_arguments a = { "tensor_cache.remove", args, count };
	struct tenon_slice name;
	int err;

	(void)self;
	*ret = tenon_arg_none();
	err = relax_arguments_count(&a, 1, 1);
	if (!err)
		err = relax_argument_text(&a, 0, &name);
	if (!err)
		remove_weight(name);
	return err;
}

int relax_builtin_tensor_cache_clear(void *self, const struct tenon_value *args, int32_t count,
				     struct tenon_value *ret)
{
	const struct relax_arguments a = { "tensor_cache.clear", args, count };
	int err = relax_arguments_count(&a, 0, 0);

	(void)self;
	*ret = tenon_arg_none();
	if (!err)
		clear_weights();
	return err;
}

/* Make an array of owned tensors, which are released. */
static int make_array(struct tenon_value *items, size_t count, struct tenon_value *ret)
{
	struct tenon_array *array;
	size_t i;
	int err = tenon_array_create(items, count, &array);

	for (i = 0; i < count; i++)
		tenon_value_release(&items[i]);
	if (!err)
		*ret = tenon_arg_object(array);
	return err;
}

static int by_names(const struct relax_arguments *a, const struct tenon_value *names, int64_t count,
		    struct tenon_value *ret)
{
	struct tenon_value *items = calloc((size_t)count + 1, sizeof(*items));
	struct tenon_slice name;
	int64_t i;
	int err = items ? 0 : tenon_error(-TENON_E_NOMEM, "no memory for a tuple");

	for (i = 0; !err && i < count; i++) {
		err = tenon_value_text(&names[i], &name);
		if (err)
			break;
		items[i] = tenon_arg_object(find(name));
		if (items[i].type == TENON_TYPE_NONE)
			err = tenon_error(-TENON_E_NOT_FOUND,
					  "no weight \"%.*s\" was loaded; %zu others are",
					  json_shown(name), name.data, weight_count);
	}
	if (!err)
		err = make_array(items, (size_t)count, ret);
	else
		while (items && i-- > 0)
			tenon_value_release(&items[i]);
	free(items);
	return err ? tenon_error_in(err, "%s", a->name) : 0;
}

/* param_array_from_cache_by_name(names) -> array */
int relax_builtin_param_array_from_cache_by_name(void *self, const struct tenon_value *args,
						 int32_t count, struct tenon_value *ret)
{
	const struct relax_arguments a = { "param_array_from_cache_by_name", args, count };
	struct tenon_array *names;
	int err;

	(void)self;
	*ret = tenon_arg_none();
	err = relax_arguments_count(&a, 1, 1);
	if (!err)
		err = relax_argument_array(&a, 0, &names);
	return err ? err : by_names(&a, names->data, names->size, ret);
}

int relax_builtin_param_array_from_cache_by_name_unpacked(void *self,
							  const struct tenon_value *args,
							  int32_t count, struct tenon_value *ret)
{
	const struct relax_arguments a = { "param_array_from_cache_by_name_unpacked", args, count };

	(void)self;
	*ret = tenon_arg_none();
	return by_names(&a, args, count, ret);
}

/* param_array_from_cache(prefix, n) -> array of prefix_0, prefix_1 …; n -1: up to the first gap */
int relax_builtin_param_array_from_cache(void *self, const struct tenon_value *args, int32_t count,
					 struct tenon_value *ret)
{
	const struct relax_arguments a = { "param_array_from_cache", args, count };
	struct tenon_value *items = NULL, *more;
	struct tenon_slice prefix;
	struct tenon_tensor *t;
	char name[512];
	int64_t most, i;
	int err;

	(void)self;
	*ret = tenon_arg_none();
	err = relax_arguments_count(&a, 2, 2);
	if (!err)
		err = relax_argument_text(&a, 0, &prefix);
	if (!err && prefix.size > sizeof(name) - 32)
		err = relax_argument_refuse(&a, 0, tenon_error(-TENON_E_VALUE, "a long prefix"));
	if (!err)
		err = relax_argument_range(&a, 1, -1, INT32_MAX, &most);
	for (i = 0; !err && (most < 0 || i < most); i++) {
		snprintf(name, sizeof(name), "%.*s_%" PRIi64, (int)prefix.size, prefix.data, i);
		t = find(tenon_slice_of(name));
		if (!t && most >= 0)
			err = tenon_error(-TENON_E_NOT_FOUND, "%s: no weight \"%s\" was loaded",
					  a.name, name);
		if (!t)
			break;
		more = realloc(items, ((size_t)i + 1) * sizeof(*items));
		if (!more) {
			tenon_object_unref(t);
			err = tenon_error(-TENON_E_NOMEM, "no memory for a tuple");
			break;
		}
		items = more;
		items[i] = tenon_arg_object(t);
	}
	if (!err)
		err = make_array(items, (size_t)i, ret);
	else
		while (items && i-- > 0)
			tenon_value_release(&items[i]);
	free(items);
	return err;
}
