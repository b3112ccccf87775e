/* SPDX-License-Identifier: MIT */
/*
 * Ahead-of-time code in an archive comes without the description that a runtime needs. It is written
 * here as a C source, of metadata.json and the header of main in the Relay program.
 */
#include <cjson/cJSON.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>
#include <tenon/tensor.h>

#include "lib/brief_errors.h"
#include "link/mlf/mlf.h"
#include "runtime/core/dtype.h"

#define NDIM_MOST   16
#define TENSOR_MOST 4096

/**
 * struct main_tensor - an input or output of main
 * @name: its name in metadata.json
 * @dtype: type of its elements
 * @ndim: dimensions in @shape; 1 while the shape is not known
 * @count: number of elements
 * @order: place among the parameters of main; SIZE_MAX: not known
 */
struct main_tensor {
	const char *name;
	DLDataType dtype;
	int64_t shape[NDIM_MOST];
	size_t ndim;
	int64_t count;
	size_t order;
};

struct main_list {
	struct main_tensor *at;
	size_t count;
};

/**
 * struct aot_source - the source that is written
 * @m: the archive
 * @model: the model
 * @name: its name as a part of an identifier
 * @inputs: of main
 * @outputs: of main
 * @by_struct: main takes structs of pointers, which a header of the archive declares
 */
struct aot_source {
	const struct mlf *m;
	const struct mlf_model *model;
	char *name;
	struct main_list inputs;
	struct main_list outputs;
	bool by_struct;
};

static int no_memory(void)
{
	return tenon_error(-TENON_E_NOMEM, "no memory to describe a model");
}

/* TVM replaces what cannot be in an identifier, too. */
static char identifier_char(char c)
{
	return isalnum((unsigned char)c) ? c : '_';
}

static char *identifier(const char *text)
{
	char *out = strdup(text), *at;

	for (at = out; at && *at; at++)
		*at = identifier_char(*at);
	return out;
}

static bool same_identifier(const char *name, const char *text, size_t size)
{
	size_t i;

	for (i = 0; i < size && name[i]; i++)
		if (identifier_char(name[i]) != identifier_char(text[i]))
			return false;
	return i == size && !name[i];
}

/* ---- metadata.json */

static int read_tensor(const struct aot_source *s, const cJSON *item, struct main_tensor *t)
{
	const cJSON *size = cJSON_GetObjectItemCaseSensitive(item, "size");
	const cJSON *dtype = cJSON_GetObjectItemCaseSensitive(item, "dtype");

	t->name = item->string;
	t->order = SIZE_MAX;
	if (!cJSON_IsString(dtype) ||
	    tenon_dtype_parse(tenon_slice_of(dtype->valuestring), &t->dtype) ||
	    !dtype_bytes(t->dtype))
		return tenon_error(-TENON_E_FORMAT,
				   "%s: " MLF_METADATA ": tensor \"%s\" has no known \"dtype\"",
				   s->m->path, t->name);
	if (!cJSON_IsNumber(size) || size->valuedouble < 0 || size->valuedouble > 0x1p48)
		return tenon_error(-TENON_E_FORMAT,
				   "%s: " MLF_METADATA ": tensor \"%s\" has no \"size\" in bytes",
				   s->m->path, t->name);
	t->count = (int64_t)size->valuedouble / dtype_bytes(t->dtype);
	t->shape[0] = t->count;
	t->ndim = 1;
	return 0;
}

static int read_list(const struct aot_source *s, const cJSON *object, struct main_list *list)
{
	const cJSON *item;
	int err = 0;

	if (cJSON_GetArraySize(object) > TENSOR_MOST)
		return tenon_error(-TENON_E_FORMAT, "%s: " MLF_METADATA ": %d tensors, %d at most",
				   s->m->path, cJSON_GetArraySize(object), TENSOR_MOST);
	list->at = calloc((size_t)cJSON_GetArraySize(object) + 1, sizeof(*list->at));
	if (!list->at)
		return no_memory();
	cJSON_ArrayForEach(item, object) if (!err) err =
		read_tensor(s, item, &list->at[list->count++]);
	return err;
}

static int read_metadata(struct aot_source *s)
{
	const cJSON *memory = cJSON_GetObjectItemCaseSensitive(s->model->json, "memory");
	const cJSON *functions = cJSON_GetObjectItemCaseSensitive(memory, "functions");
	const cJSON *main =
		cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(functions, "main"), 0);
	const cJSON *inputs = cJSON_GetObjectItemCaseSensitive(main, "inputs");
	const cJSON *outputs = cJSON_GetObjectItemCaseSensitive(main, "outputs");
	int err;

	if (!cJSON_IsObject(inputs) || !cJSON_IsObject(outputs))
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: model \"%s\" is ahead-of-time code, and " MLF_METADATA
				   " does not list its inputs and outputs, as TVM 0.11 to 0.18 do. "
				   "Export it with one of these, or with the graph executor",
				   s->m->path, s->model->name);
	err = read_list(s, inputs, &s->inputs);
	return err ? err : read_list(s, outputs, &s->outputs);
}

/* ---- the Relay program */

static const char *skip_spaces(const char *at)
{
	return at + strspn(at, " \n\t");
}

/*
 * Read "Tensor[(1, 32), float32]" into the shape of a tensor whose size agrees; @t may be NULL.
 * Returns what follows; NULL for another type.
 */
static const char *read_type(const char *at, struct main_tensor *t)
{
	int64_t shape[NDIM_MOST], count = 1;
	size_t ndim = 0;
	char *end;

	if (strncmp(at, "Tensor[(", 8))
		return NULL;
	for (at += 8; *at && *at != ')'; at = skip_spaces(end + (*end == ',')), ndim++) {
		if (ndim == NDIM_MOST || !isdigit((unsigned char)*at))
			return NULL;
		shape[ndim] = strtoll(at, &end, 10);
		if (__builtin_mul_overflow(count, shape[ndim], &count))
			return NULL;
	}
	at = strchr(at, ']');
	if (at && t && count == t->count) {
		memcpy(t->shape, shape, ndim * sizeof(*shape));
		t->ndim = ndim;
	}
	return at ? at + 1 : NULL;
}

static struct main_tensor *find_tensor(const struct main_list *list, const char *name, size_t size)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (same_identifier(list->at[i].name, name, size))
			return &list->at[i];
	return NULL;
}

/* Read "%x: Tensor[…], %w: Tensor[…])"; parameters that became constants are no inputs. */
static const char *read_parameters(struct aot_source *s, const char *at)
{
	struct main_tensor *t;
	size_t order = 0, size;

	for (at = skip_spaces(at); at && *at == '%'; at = skip_spaces(at + (*at == ','))) {
		size = strcspn(at + 1, ":,)");
		t = find_tensor(&s->inputs, at + 1, size);
		at += 1 + size;
		if (*at != ':')
			return NULL;
		if (t)
			t->order = order++;
		at = read_type(skip_spaces(at + 1), t);
		if (!at)
			return NULL;
		at = skip_spaces(at);
		/* a comment with the type, or where the parameter is from */
		if (!strncmp(at, "/*", 2)) {
			at = strstr(at, "*/");
			at = at ? skip_spaces(at + 2) : "";
		}
	}
	return at;
}

/* Read "-> Tensor[…]" or "-> (Tensor[…], Tensor[…])", which not all programs have. */
static void read_results(struct aot_source *s, const char *at)
{
	size_t i;

	at = strncmp(at, ") -> ", 5) ? NULL : at + 5;
	if (at && *at == '(')
		at++;
	for (i = 0; at && i < s->outputs.count; i++) {
		at = read_type(at, &s->outputs.at[i]);
		at = at ? skip_spaces(at + (*at == ',')) : NULL;
	}
}

static int read_program(struct aot_source *s)
{
	const struct archive_file *file = mlf_program(s->m, s->model);
	const char *at;
	char *text;

	if (!file)
		return 0;
	text = strndup(file->bytes.data ? file->bytes.data : "", file->bytes.size);
	if (!text)
		return no_memory();
	at = strstr(text, "@main(");
	at = at ? read_parameters(s, at + 6) : NULL;
	if (at)
		read_results(s, at);
	free(text);
	return 0;
}

/* ---- the order of arguments */

static int compare_inputs(const void *a, const void *b)
{
	const struct main_tensor *x = a, *y = b;

	return (x->order > y->order) - (x->order < y->order);
}

/* "output2" is before "output10". */
static int compare_outputs(const void *a, const void *b)
{
	const struct main_tensor *x = a, *y = b;
	size_t m = strlen(x->name), n = strlen(y->name);

	return m != n ? (m > n) - (m < n) : strcmp(x->name, y->name);
}

/* metadata.json sorts tensors by name. Code that takes them by position needs their order in main. */
static int order_tensors(struct aot_source *s)
{
	size_t i, unknown = 0;

	for (i = 0; i < s->inputs.count; i++)
		unknown += s->inputs.at[i].order == SIZE_MAX;
	if (unknown && s->inputs.count > 1 && !s->by_struct)
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"%s: the order of the inputs of model \"%s\" is not known: no file "
			"in src/ has a main with all of them. Export it with the option "
			"interface-api=c",
			s->m->path, s->model->name);
	if (!unknown)
		qsort(s->inputs.at, s->inputs.count, sizeof(*s->inputs.at), compare_inputs);
	return 0;
}

/*
 * Find out how many arguments main wants, from the text of the assertion that TVM compiles into it,
 * in sources and in objects. 0: there is none.
 */
static size_t arguments_of_main(const struct aot_source *s)
{
	const struct archive_files *files = &s->m->files;
	const char *at, *end;
	char text[128];
	size_t i, count = 0;
	int size;

	size = snprintf(text, sizeof(text), "tvmgen_%s___tvm_main__: num_args should be ", s->name);
	if (size < 0 || (size_t)size >= sizeof(text))
		return 0;
	for (i = 0; i < files->count && !count; i++) {
		const struct tenon_buffer *b = &files->items[i].bytes;

		if (!b->size || !mlf_is_host_file(s->m, s->model, &files->items[i]))
			continue;
		end = b->data + b->size;
		at = memmem(b->data, b->size, text, (size_t)size);
		for (at = at ? at + size : end; at < end && isdigit((unsigned char)*at); at++)
			if (count < TENSOR_MOST * 2)
				count = count * 10 + (size_t)(*at - '0');
	}
	return count;
}

static int check_main(const struct aot_source *s)
{
	const size_t known = s->inputs.count + s->outputs.count, wanted = arguments_of_main(s);

	if (s->by_struct || !wanted || wanted == known)
		return 0;
	return tenon_error(
		-TENON_E_UNSUPPORTED,
		"%s: main of model \"%s\" takes %zu arguments, and " MLF_METADATA
		" lists %zu inputs and outputs. The others are memory that TVM's planner "
		"(USMP) placed, and its constants are not in the archive. Export it with "
		"the target \"c\" and the option interface-api=c, or without the planner",
		s->m->path, s->model->name, wanted, known);
}

/* ---- the source */

static const char head[] = "/* description of a model, made by tenon link */\n"
			   "#include <stdint.h>\n"
			   "#define PUBLIC __attribute__((visibility(\"default\")))\n"
			   "struct tensor_info { const char *name; const int64_t *shape; int64_t "
			   "ndim; struct { uint8_t code, bits; uint16_t lanes; } dtype; };\n"
			   "struct model_info { int64_t version; const struct tensor_info *inputs; "
			   "int64_t input_count; const struct tensor_info *outputs;\n"
			   "\tint64_t output_count; const void *workspaces; int64_t "
			   "workspace_count; const void *constants; int64_t constant_count;\n"
			   "\tconst char *name; };\n"
			   "union value { int64_t v_int64; double v_float64; void *v_handle; };\n";

static const char head_of_structs[] =
	"struct tensor { void *data; struct { int32_t type, id; } device; int32_t ndim; struct { "
	"uint8_t code, bits; uint16_t lanes; } dtype;\n"
	"\tint64_t *shape, *strides; uint64_t byte_offset; };\n"
	"static void *data_of(union value v) { struct tensor *t = v.v_handle; return (char "
	"*)t->data + t->byte_offset; }\n";

static void write_text(const char *text, struct tenon_buffer *out)
{
	for (; *text; text++)
		tenon_buffer_printf(
			out,
			isalnum((unsigned char)*text) || strchr("_.:/-", *text) ? "%c" : "\\%03o",
			(unsigned char)*text);
}

static void write_tensors(const struct main_list *list, const char *what, struct tenon_buffer *out)
{
	const struct main_tensor *t;
	size_t i, j;

	for (i = 0; i < list->count; i++) {
		t = &list->at[i];
		tenon_buffer_printf(out, "static const int64_t %s_shape%zu[] = {", what, i);
		for (j = 0; j < t->ndim; j++)
			tenon_buffer_printf(out, " %" PRIi64 ",", t->shape[j]);
		tenon_buffer_printf(out, " 0 };\n");
	}
	tenon_buffer_printf(out, "static const struct tensor_info %ss[] = {\n", what);
	for (i = 0; i < list->count; i++) {
		t = &list->at[i];
		tenon_buffer_printf(out, "\t{ \"");
		write_text(t->name, out);
		tenon_buffer_printf(out, "\", %s_shape%zu, %zu, { %d, %d, %d } },\n", what, i,
				    t->ndim, t->dtype.code, t->dtype.bits, t->dtype.lanes);
	}
	tenon_buffer_printf(out, "\t{ 0 },\n};\n");
}

static void write_fields(const struct main_list *list, size_t first, struct tenon_buffer *out)
{
	const char *at;
	size_t i;

	for (i = 0; i < list->count; i++) {
		tenon_buffer_printf(out, "\t\t.");
		for (at = list->at[i].name; *at; at++)
			tenon_buffer_printf(out, "%c", identifier_char(*at));
		tenon_buffer_printf(out, " = data_of(args[%zu]),\n", first + i);
	}
}

/* Write main as other executors call it: it passes the data of its arguments in structs. */
static void write_main(const struct aot_source *s, struct tenon_buffer *out)
{
	const char *n = s->name;

	tenon_buffer_printf(out, "#include <tvmgen_%s.h>\n%s", n, head_of_structs);
	tenon_buffer_printf(
		out,
		"PUBLIC int tenon_%s___tvm_main__(union value *args, int *codes, int "
		"count, union value *ret, int *ret_code, void *resource);\n"
		"int tenon_%s___tvm_main__(union value *args, int *codes, int count, union "
		"value *ret, int *ret_code, void *resource)\n{\n",
		n, n);
	tenon_buffer_printf(out, "\tstruct tvmgen_%s_inputs inputs = {\n", n);
	write_fields(&s->inputs, 0, out);
	tenon_buffer_printf(out, "\t};\n\tstruct tvmgen_%s_outputs outputs = {\n", n);
	write_fields(&s->outputs, s->inputs.count, out);
	tenon_buffer_printf(out,
			    "\t};\n\n\t(void)codes; (void)count; (void)ret; (void)ret_code; "
			    "(void)resource;\n\treturn tvmgen_%s_run(&inputs, &outputs);\n}\n",
			    n);
}

static int write_source(const struct aot_source *s, struct tenon_buffer *out)
{
	tenon_buffer_printf(out, "%s", head);
	write_tensors(&s->inputs, "input", out);
	write_tensors(&s->outputs, "output", out);
	tenon_buffer_printf(out,
			    "static const struct model_info info = { 1, inputs, %zu, outputs, %zu, "
			    "0, 0, 0, 0, \"%s_%s\" };\n",
			    s->inputs.count, s->outputs.count, s->by_struct ? "tenon" : "tvmgen",
			    s->name);
	tenon_buffer_printf(
		out,
		"PUBLIC int get_c_metadata(void *args, int *codes, int count, union value *ret, "
		"int "
		"*ret_code, void *resource);\n"
		"int get_c_metadata(void *args, int *codes, int count, union value *ret, int "
		"*ret_code, void *resource)\n{\n"
		"\t(void)args; (void)codes; (void)count; (void)resource;\n"
		"\tret->v_handle = (void *)(uintptr_t)&info;\n\t*ret_code = 3;\n\treturn 0;\n}\n");
	if (s->by_struct)
		write_main(s, out);
	return out->status ? no_memory() : 0;
}

int mlf_aot_source(const struct mlf *m, const struct mlf_model *model, struct tenon_buffer *out)
{
	struct aot_source s = { .m = m, .model = model, .name = identifier(model->name) };
	int err;

	err = s.name ? read_metadata(&s) : no_memory();
	if (!err) {
		s.by_struct = mlf_header(m, s.name) != NULL;
		qsort(s.outputs.at, s.outputs.count, sizeof(*s.outputs.at), compare_outputs);
		err = read_program(&s);
	}
	if (!err)
		err = order_tensors(&s);
	if (!err)
		err = check_main(&s);
	if (!err)
		err = write_source(&s, out);
	free(s.inputs.at);
	free(s.outputs.at);
	free(s.name);
	return err;
}
