/* SPDX-License-Identifier: MIT */
/* Read the manifest of a record and the contents that it names. Every byte may be an attacker's. */
#include "tools/replay/replay_manifest.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/buffer.h>
#include <tenon/error.h>
#include <unistd.h>

#include "lib/file_map.h"
#include "lib/json_tree.h"
#include "lib/record.h"
#include "lib/sha256.h"
#include "tools/file/file.h"
#include "tools/tensor/spec.h"

static int bad(const char *where, const char *what)
{
	return tenon_error(-TENON_E_FORMAT, "%s: %s", where, what);
}

/* ---- members of objects; where one is missing or of another type, the text is NULL, the number no number */

static const char *text_of(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsString(item) ? item->valuestring : NULL;
}

/* A whole number from 0 to @most. */
static bool number_of(const cJSON *item, uint64_t most, uint64_t *out)
{
	const double n = cJSON_IsNumber(item) ? item->valuedouble : -1;

	if (!(n >= 0 && n <= (double)most) || n != floor(n))
		return false;
	*out = (uint64_t)n;
	return true;
}

static bool member_number(const cJSON *object, const char *key, uint64_t most, uint64_t *out)
{
	return number_of(cJSON_GetObjectItemCaseSensitive(object, key), most, out);
}

/* 64 hexadecimal digits, and what may follow in the name of a module. */
static bool is_hash(const char *name, bool module)
{
	const size_t digits = SHA256_TEXT - 1;

	if (strspn(name, "0123456789abcdef") < digits)
		return false;
	name += digits;
	return !*name ||
	       (module && *name == '.' && strlen(name) < 16 &&
		strspn(name + 1, "abcdefghijklmnopqrstuvwxyz0123456789") == strlen(name + 1));
}

/* ---- arguments */

static int read_content_name(const cJSON *json, const char *key, const char *where,
			     const char **out)
{
	*out = text_of(json, key);
	if (*out && !is_hash(*out, false))
		return bad(where, "a name of contents is no SHA-256");
	return 0;
}

static int read_tensor(const cJSON *json, const char *type, const char *where,
		       struct replay_argument *a)
{
	struct spec spec;
	DLTensor t;
	int err;

	if (spec_parse(SPEC_OUTPUT, type, &spec) || spec.form != SPEC_TENSOR || spec.write ||
	    spec.fill != SPEC_ZEROS || spec.list || spec.path) {
		tenon_error_clear();
		return bad(where, "the type of a tensor is not of the form 2x3xfloat32");
	}
	a->kind = REPLAY_TENSOR;
	a->type = type;
	a->dtype = spec.dtype;
	a->ndim = spec.ndim;
	a->shape = calloc((size_t)spec.ndim + 1, sizeof(*a->shape));
	if (!a->shape)
		return tenon_error(-TENON_E_NOMEM, "%s: no memory for a shape", where);
	memcpy(a->shape, spec.shape, (size_t)spec.ndim * sizeof(*a->shape));
	t = (DLTensor){ .ndim = a->ndim, .dtype = a->dtype, .shape = a->shape };
	err = tenon_tensor_bytes(&t, &a->size);
	if (err)
		return tenon_error_in(err, "%s", where);
	a->bytes_only = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "bytes_only"));
	err = read_content_name(json, "before", where, &a->before);
	if (!err)
		err = read_content_name(json, "after", where, &a->after);
	if (!err && !a->before && !a->after)
		err = bad(where, "a tensor has contents neither before nor after");
	return err;
}

static bool read_int(const char *text, int64_t *out)
{
	const char *digits = text + (*text == '-');
	char end;

	return *digits && strspn(digits, "0123456789") == strlen(digits) && strlen(digits) < 20 &&
	       sscanf(text, "%" SCNi64 "%c", out, &end) == 1;
}

static bool read_real(const char *text, double *out)
{
	uint64_t bits;

	if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
		return false;
	bits = strtoull(text, NULL, 16);
	memcpy(out, &bits, sizeof(bits));
	return true;
}

static int read_argument(const cJSON *json, const char *where, struct replay_argument *a)
{
	const char *tensor = text_of(json, "tensor"), *integer = text_of(json, "int"),
		   *real = text_of(json, "real");
	const cJSON *truth = cJSON_GetObjectItemCaseSensitive(json, "bool");

	if (tensor)
		return read_tensor(json, tensor, where, a);
	if (integer) {
		a->kind = REPLAY_INT;
		return read_int(integer, &a->integer) ? 0 : bad(where, "\"int\" is no integer");
	}
	if (real) {
		a->kind = REPLAY_REAL;
		return read_real(real, &a->real) ? 0 : bad(where, "\"real\" is not 16 digits");
	}
	if (cJSON_IsBool(truth)) {
		a->kind = REPLAY_BOOL;
		a->integer = cJSON_IsTrue(truth);
		return 0;
	}
	if (!cJSON_IsObject(json) || json->child)
		return bad(where, "an argument is of no known kind");
	return 0;
}

static int read_arguments(const cJSON *json, const char *where, struct replay_operation *op)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, "arguments"), *item;
	const int count = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : -1;
	int err = 0;

	if (count < 0 || count > REPLAY_ARGUMENTS_MOST)
		return bad(where, "\"arguments\" is no list of at most 4096");
	op->arguments = calloc((size_t)count + 1, sizeof(*op->arguments));
	if (!op->arguments)
		return tenon_error(-TENON_E_NOMEM, "%s: no memory for %d arguments", where, count);
	cJSON_ArrayForEach(item, list)
	{
		err = read_argument(item, where, &op->arguments[op->argument_count++]);
		if (err)
			break;
	}
	return err;
}

/* ---- operations */

static int read_extents(const cJSON *json, const char *where, struct replay_operation *op)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, "extents"), *item;
	uint64_t tag, extent;

	if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) > TENON_TAG_COUNT)
		return bad(where, "\"extents\" is no list of the extents of a launch");
	cJSON_ArrayForEach(item, list)
	{
		if (!cJSON_IsArray(item) || cJSON_GetArraySize(item) != 2 ||
		    !number_of(item->child, TENON_TAG_COUNT - 1, &tag) ||
		    !number_of(item->child->next, INT32_MAX, &extent))
			return bad(where, "an extent of the launch is no [tag, extent]");
		op->tags[op->extent_count] = (uint32_t)tag;
		op->extents[op->extent_count++] = (uint32_t)extent;
	}
	return 0;
}

static int read_fill(const cJSON *json, const char *where, struct replay_operation *op)
{
	uint64_t pattern, width;

	if (!member_number(json, "pattern", UINT32_MAX, &pattern) ||
	    !member_number(json, "width", 4, &width) || (width != 1 && width != 2 && width != 4))
		return bad(where, "a fill has no pattern of 1, 2 or 4 bytes");
	op->pattern = (uint32_t)pattern;
	op->width = (uint32_t)width;
	return 0;
}

static bool read_kind(const char *text, enum replay_kind *out)
{
	static const char *const kinds[] = {
		"operator", "kernel", "copy", "write", "read", "fill"
	};
	unsigned int i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (text && !strcmp(text, kinds[i])) {
			*out = (enum replay_kind)i;
			return true;
		}
	return false;
}

/* What the kind of an operation says about its arguments. */
static int check_arguments(const struct replay_operation *op, const char *where)
{
	const size_t count = op->kind == REPLAY_COPY ? 2 : 1;
	size_t i;

	if (op->kind == REPLAY_OPERATOR || op->kind == REPLAY_KERNEL)
		return 0;
	if (op->argument_count != count)
		return bad(where, "a copy has two arguments; a write, a read, a fill one");
	for (i = 0; i < count; i++)
		if (op->arguments[i].kind != REPLAY_TENSOR ||
		    op->arguments[i].size != op->arguments[0].size)
			return bad(where, "a copy or fill is of tensors of one size");
	return 0;
}

static int read_operation(const cJSON *json, const char *folder, struct replay_operation *op,
			  uint64_t after)
{
	char where[96];
	int err;

	if (!member_number(json, "number", UINT32_MAX, &op->number) || op->number <= after)
		return tenon_error(-TENON_E_FORMAT,
				   "%s: operation after %" PRIu64 ": \"number\" does not grow",
				   folder, after);
	snprintf(where, sizeof(where), "operation %" PRIu64, op->number);
	op->name = text_of(json, "name");
	op->device = text_of(json, "device");
	op->function = text_of(json, "function");
	if (cJSON_GetObjectItemCaseSensitive(json, "within") &&
	    (!member_number(json, "within", op->number - 1, &op->within) || !op->within))
		err = bad(where, "\"within\" is no earlier operation");
	else if (!read_kind(text_of(json, "kind"), &op->kind))
		err = bad(where, "\"kind\" is none of operator, kernel, copy, write, read, fill");
	else if (!op->name || !op->device || (op->kind == REPLAY_OPERATOR && !op->function))
		err = bad(where, "it lacks \"name\", \"device\" or \"function\"");
	else
		err = read_arguments(json, where, op);
	if (!err)
		err = check_arguments(op, where);
	if (!err && op->kind == REPLAY_KERNEL)
		err = read_extents(json, where, op);
	if (!err && op->kind == REPLAY_FILL)
		err = read_fill(json, where, op);
	return err ? tenon_error_in(err, "%s/%s", folder, RECORD_MANIFEST) : 0;
}

static int read_operations(struct replay_manifest *m)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(m->json, "operations"), *item;
	uint64_t after = 0;
	int err = 0;

	if (!cJSON_IsArray(list))
		return tenon_error(-TENON_E_FORMAT, "%s/%s: no list of operations", m->folder,
				   RECORD_MANIFEST);
	m->operations = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof(*m->operations));
	if (!m->operations)
		return tenon_error(-TENON_E_NOMEM, "%s: no memory for its operations", m->folder);
	cJSON_ArrayForEach(item, list)
	{
		struct replay_operation *op = &m->operations[m->operation_count++];

		err = read_operation(item, m->folder, op, after);
		if (err)
			break;
		after = op->number;
	}
	return err;
}

static int read_modules(struct replay_manifest *m)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(m->json, "modules"), *item;
	const size_t count = cJSON_IsArray(list) ? (size_t)cJSON_GetArraySize(list) : 0;

	m->modules = calloc(2 * (count + 1), sizeof(*m->modules));
	if (!m->modules)
		return tenon_error(-TENON_E_NOMEM, "%s: no memory for its modules", m->folder);
	m->module_names = m->modules + count + 1;
	cJSON_ArrayForEach(item, list)
	{
		const char *file = text_of(item, "file"), *name = text_of(item, "name");

		if (!name || (file && !is_hash(file, true)))
			return tenon_error(-TENON_E_FORMAT,
					   "%s/%s: module %zu has no name, or a file that is not "
					   "named by its SHA-256",
					   m->folder, RECORD_MANIFEST, m->module_count);
		m->modules[m->module_count] = file;
		m->module_names[m->module_count++] = name;
	}
	return 0;
}

static int check_format(const struct replay_manifest *m)
{
	const char *format = text_of(m->json, "format");
	uint64_t version;

	if (!format || strcmp(format, RECORD_FORMAT) ||
	    !member_number(m->json, "version", UINT32_MAX, &version))
		return tenon_error(-TENON_E_FORMAT, "%s/%s is no record of a run", m->folder,
				   RECORD_MANIFEST);
	if (version != RECORD_VERSION)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s/%s: version %" PRIu64 " of the format; this Tenon reads %d",
				   m->folder, RECORD_MANIFEST, version, RECORD_VERSION);
	return 0;
}

/* The path of a file in the record, which the caller frees; NULL without memory. */
static char *path_of(const struct replay_manifest *m, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", m->folder, name) >= 0)
		return path;
	tenon_error(-TENON_E_NOMEM, "%s: no memory for a path", m->folder);
	return NULL;
}

static int read_json(struct replay_manifest *m)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	char *path = path_of(m, RECORD_MANIFEST);
	int err = path ? file_read_text(path, &text) : -TENON_E_NOMEM;

	if (!err)
		err = json_tree_read((struct tenon_slice){ text.data, text.size }, path, &m->json);
	tenon_buffer_fini(&text);
	free(path);
	return err;
}

int replay_manifest_read(const char *folder, struct replay_manifest *m)
{
	int err;

	m->folder = folder;
	err = read_json(m);
	if (!err)
		err = check_format(m);
	if (!err)
		err = read_modules(m);
	return err ? err : read_operations(m);
}

void replay_manifest_fini(struct replay_manifest *m)
{
	size_t i, k;

	for (i = 0; i < m->operation_count; i++) {
		for (k = 0; k < m->operations[i].argument_count; k++)
			free(m->operations[i].arguments[k].shape);
		free(m->operations[i].arguments);
	}
	free(m->operations);
	free(m->modules);
	cJSON_Delete(m->json);
}

/* ---- files of the record */

/* Whether bytes have the hash that their file is named by. */
static int check_hash(const char *path, const char *name, struct tenon_slice bytes)
{
	char text[SHA256_TEXT];

	sha256_of(bytes.data, bytes.size, text);
	if (!strncmp(text, name, SHA256_TEXT - 1))
		return 0;
	return tenon_error(-TENON_E_FORMAT,
			   "%s: its bytes changed after they were recorded: their SHA-256 is %s",
			   path, text);
}

static int check_size(const char *path, size_t size)
{
	size_t is;
	int fd, err = file_open(path, &fd, &is);

	if (err)
		return err;
	close(fd);
	return is == size ? 0
			  : tenon_error(-TENON_E_FORMAT, "%s: %zu bytes, want %zu of the tensor",
					path, is, size);
}

static int read_checked(const char *path, const char *name, size_t size, void *to)
{
	struct tenon_slice bytes;
	int err = file_map_open(path, &bytes);

	if (err)
		return err;
	err = check_hash(path, name, bytes);
	/* it may have grown since */
	if (!err && bytes.size != size)
		err = tenon_error(-TENON_E_FORMAT, "%s: %zu bytes, want %zu", path, bytes.size,
				  size);
	if (!err && size)
		memcpy(to, bytes.data, size);
	file_map_close(&bytes);
	return err;
}

int replay_content(const struct replay_manifest *m, const char *name, size_t size, void *to)
{
	char *path = path_of(m, name);
	int err = path ? check_size(path, size) : -TENON_E_NOMEM;

	if (!err && to)
		err = read_checked(path, name, size, to);
	free(path);
	return err;
}

int replay_module_path(const struct replay_manifest *m, size_t index, char **path)
{
	const char *name = m->modules[index];
	struct tenon_slice bytes;
	int err;

	*path = NULL;
	if (!name)
		return tenon_error(-TENON_E_NOT_FOUND,
				   "%s: the record has no copy of %s; give the file: --module FILE",
				   m->folder, m->module_names[index]);
	*path = path_of(m, name);
	if (!*path)
		return -TENON_E_NOMEM;
	err = file_map_open(*path, &bytes);
	if (!err) {
		err = check_hash(*path, name, bytes);
		file_map_close(&bytes);
	}
	if (err) {
		free(*path);
		*path = NULL;
	}
	return err;
}
