/* SPDX-License-Identifier: MIT */
/*
 * Calls FOLDER [--device URI]: plays the recorded calls of a model: FOLDER/calls.json, one object a call,
 * with model.so beside it. Reports each call that differs from the record. Exit status: 0, 1 when one
 * differs, 2 for wrong arguments or files.
 */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "tools/tensor/spec.h"

#define ARGUMENTS_MOST 64
#define KEPT_MOST      256
#define RTOL	       1e-4
/* a device adds in another order than the host, on which the values were recorded */
#define ATOL_HOST   1e-5
#define ATOL_DEVICE 1e-4

struct player {
	const char *folder;
	DLDevice device;
	struct tenon_module *machine;
	struct {
		char *name;
		struct tenon_value value;
	} kept[KEPT_MOST];
	int kept_count;
	int at; /* number of the call */
	int different;
};

__attribute__((format(printf, 2, 3))) static void differs(struct player *p, const char *format, ...)
{
	va_list args;

	p->different++;
	printf("call %d: ", p->at);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

__attribute__((format(printf, 1, 2), noreturn)) static void stop(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(2);
}

static void require(int err, const char *what)
{
	if (err)
		stop("%s: %s", what, tenon_error_message());
}

static const char *text_of(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsString(item) ? item->valuestring : NULL;
}

static cJSON *read_json(const char *folder, const char *file)
{
	char path[4096], *text = NULL;
	cJSON *json = NULL;
	size_t size = 0;
	ssize_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	f = fopen(path, "rb");
	if (f) {
		n = getdelim(&text, &size, '\0', f);
		json = n > 0 ? cJSON_Parse(text) : NULL;
		fclose(f);
	}
	free(text);
	if (!json)
		stop("%s is no JSON that can be read", path);
	return json;
}

/* ---- values */

static struct tenon_value *kept(struct player *p, const char *name)
{
	int i;

	for (i = 0; i < p->kept_count; i++)
		if (!strcmp(p->kept[i].name, name))
			return &p->kept[i].value;
	return NULL;
}

/* Keep an owned value under a name; without one, release it. */
static void keep(struct player *p, const char *name, struct tenon_value *value)
{
	struct tenon_value *old = name ? kept(p, name) : NULL;

	if (!name) {
		tenon_value_release(value);
		return;
	}
	if (!old) {
		if (p->kept_count == KEPT_MOST)
			stop("more than %d values are kept", KEPT_MOST);
		p->kept[p->kept_count].name = strdup(name);
		p->kept[p->kept_count].value = tenon_arg_none();
		old = &p->kept[p->kept_count++].value;
	}
	tenon_value_release(old);
	*old = *value;
}

/* Move an owned tensor to the device of the model. */
static struct tenon_tensor *to_device(struct player *p, struct tenon_tensor *t)
{
	struct tenon_tensor *there;

	if (p->device.device_type == kDLCPU)
		return t;
	require(tenon_tensor_create_on(p->device, t->dl.shape, t->dl.ndim, t->dl.dtype, &there),
		"a tensor on the device");
	require(tenon_tensor_copy(&t->dl, &there->dl), "a copy to the device");
	tenon_object_unref(t);
	return there;
}

static struct tenon_tensor *tensor_of(struct player *p, const char *text)
{
	char full[8192], *buffer = NULL;
	struct tenon_tensor *t;
	struct spec spec;

	if (text[0] == '@') {
		snprintf(full, sizeof(full), "@%s/%s", p->folder, text + 1);
		text = full;
	}
	buffer = strdup(text);
	require(spec_parse(SPEC_INPUT, buffer, &spec), text);
	require(spec_tensor(&spec, &t), text);
	free(buffer);
	return t;
}

static size_t numbers(const cJSON *list, int64_t *out, size_t room)
{
	const cJSON *item;
	size_t n = 0;

	cJSON_ArrayForEach(item, list)
	{
		if (n == room)
			stop("a list of more than %zu numbers", room);
		out[n++] = (int64_t)item->valuedouble;
	}
	return n;
}

static struct tenon_value strings(const cJSON *list)
{
	struct tenon_value items[1024], v;
	struct tenon_array *array;
	const cJSON *item;
	size_t n = 0;

	cJSON_ArrayForEach(item, list)
	{
		if (n == 1024)
			stop("a list of more than 1024 strings");
		v = tenon_arg_string(item->valuestring);
		require(tenon_value_own(&v, &items[n++]), "a string");
	}
	require(tenon_array_create(items, n, &array), "a list of strings");
	while (n-- > 0)
		tenon_value_release(&items[n]);
	return tenon_arg_object(array);
}

/* Make an owned value of an argument. */
static struct tenon_value argument(struct player *p, const cJSON *a)
{
	const char *text = text_of(a, "tensor");
	struct tenon_value v = tenon_arg_none(), *found, owned;
	struct tenon_shape *shape;
	int64_t extents[4096];

	if (cJSON_IsNumber(a))
		return a->valuedouble == floor(a->valuedouble)
			       ? tenon_arg_int((int64_t)a->valuedouble)
			       : tenon_arg_float(a->valuedouble);
	if (cJSON_IsBool(a))
		return tenon_arg_bool(cJSON_IsTrue(a));
	if (cJSON_IsString(a)) {
		found = a->valuestring[0] == '$' ? kept(p, a->valuestring + 1) : NULL;
		if (!found)
			stop("call %d: no value \"%s\" was kept", p->at, a->valuestring);
		require(tenon_value_own(found, &owned), "an argument");
		return owned;
	}
	if (text)
		return tenon_arg_object(to_device(p, tensor_of(p, text)));
	if (cJSON_GetObjectItemCaseSensitive(a, "shape")) {
		require(tenon_shape_create(extents,
					   numbers(cJSON_GetObjectItemCaseSensitive(a, "shape"),
						   extents, 4096),
					   &shape),
			"a shape");
		return tenon_arg_object(shape);
	}
	if (cJSON_GetObjectItemCaseSensitive(a, "strings"))
		return strings(cJSON_GetObjectItemCaseSensitive(a, "strings"));
	text = text_of(a, "string");
	if (!text && !cJSON_IsNull(a))
		stop("call %d: an argument that is not known", p->at);
	if (text) {
		v = tenon_arg_string(strcmp(text, "FOLDER") ? text : p->folder);
		require(tenon_value_own(&v, &owned), "a string");
		return owned;
	}
	return v;
}

/* ---- what a line asks for */

static struct tenon_function *function_of(struct player *p, const char *name)
{
	struct tenon_function *f = NULL;

	require(strchr(name, '.')
			? tenon_function_find(name, &f)
			: tenon_module_find_function(p->machine, tenon_slice_of(name), false, &f),
		name);
	return f;
}

static void check_result(struct player *p, const char *name, const cJSON *want,
			 const struct tenon_value *have)
{
	struct tenon_slice text;
	double number;

	if (cJSON_IsString(want)) {
		if (tenon_value_text(have, &text) ||
		    !tenon_slice_equal(text, tenon_slice_of(want->valuestring)))
			differs(p, "%s returned another text", name);
	} else if (cJSON_IsNumber(want)) {
		if (tenon_value_float(have, &number) || number != want->valuedouble)
			differs(p, "%s returned %s %g, want %g", name, tenon_type_key(have->type),
				have->type == TENON_TYPE_FLOAT ? have->as.real
							       : (double)have->as.integer,
				want->valuedouble);
	} else if (cJSON_IsBool(want)) {
		if (tenon_value_float(have, &number) || (number != 0) != cJSON_IsTrue(want))
			differs(p, "%s returned something else than %s", name,
				cJSON_IsTrue(want) ? "true" : "false");
	}
	tenon_error_clear();
}

static void play_call(struct player *p, const cJSON *line, const char *name)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(line, "args"), *item;
	const cJSON *want = cJSON_GetObjectItemCaseSensitive(line, "result");
	const char *error = text_of(line, "error");
	struct tenon_value args[ARGUMENTS_MOST], ret = tenon_arg_none();
	struct tenon_function *f = function_of(p, name);
	int32_t n = 0;
	int err;

	if (!f) {
		differs(p, "there is no function %s", name);
		return;
	}
	cJSON_ArrayForEach(item, list)
	{
		if (n == ARGUMENTS_MOST)
			stop("call %d: more than %d arguments", p->at, ARGUMENTS_MOST);
		args[n++] = argument(p, item);
	}
	err = tenon_function_call(f, args, n, &ret);
	if (err && !error)
		differs(p, "%s failed: %s", name, tenon_error_message());
	if (!err && error)
		differs(p, "%s was accepted; TVM refused it: %s", name, error);
	if (err && error && !*tenon_error_message())
		differs(p, "%s was refused without a reason", name);
	if (!err && want)
		check_result(p, name, want, &ret);
	if (err)
		tenon_error_clear();
	else
		keep(p, text_of(line, "to"), &ret);
	while (n-- > 0)
		tenon_value_release(&args[n]);
	tenon_object_unref(f);
}

static void play_view(struct player *p, const cJSON *line, const char *name)
{
	struct tenon_value *from = kept(p, name[0] == '$' ? name + 1 : name), view;
	struct tenon_tensor *whole, *t;
	int64_t extents[64];
	DLTensor dl;

	if (!from || from->type != TENON_TYPE_TENSOR) {
		differs(p, "%s is no tensor", name);
		return;
	}
	whole = (struct tenon_tensor *)from->as.object;
	dl = whole->dl;
	dl.ndim = (int32_t)numbers(cJSON_GetObjectItemCaseSensitive(line, "shape"), extents, 64);
	dl.shape = extents;
	dl.strides = NULL;
	require(tenon_tensor_view(&dl, &whole->object, &t), "a view");
	view = tenon_arg_object(t);
	keep(p, text_of(line, "to"), &view);
}

/* Copy a tensor to the host. */
static struct tenon_tensor *to_host(const DLTensor *t)
{
	static const DLDevice host = { kDLCPU, 0 };
	struct tenon_tensor *copy;
	DLTensor compact = *t;

	require(tenon_tensor_create_on(host, t->shape, t->ndim, t->dtype, &copy), "a tensor");
	require(tenon_tensor_copy(&compact, &copy->dl), "a copy from the device");
	return copy;
}

static double element(const DLTensor *t, uint64_t i)
{
	const char *data = (const char *)t->data + t->byte_offset;

	if (t->dtype.code == TENON_DTYPE_FLOAT && t->dtype.bits == 64)
		return ((const double *)data)[i];
	if (t->dtype.code == TENON_DTYPE_FLOAT && t->dtype.bits == 32)
		return ((const float *)data)[i];
	if (t->dtype.code == TENON_DTYPE_INT && t->dtype.bits == 64)
		return (double)((const int64_t *)data)[i];
	if (t->dtype.code == TENON_DTYPE_INT && t->dtype.bits == 32)
		return ((const int32_t *)data)[i];
	stop("a dtype of %d bits that is not compared here", t->dtype.bits);
}

static void compare(struct player *p, const char *what, const DLTensor *have, const DLTensor *want)
{
	const double atol = p->device.device_type == kDLCPU ? ATOL_HOST : ATOL_DEVICE;
	bool exact = want->dtype.code != TENON_DTYPE_FLOAT;
	uint64_t n = 0, m = 0, i;
	double a, b;

	if (tenon_tensor_elements(have, &n) || tenon_tensor_elements(want, &m) || n != m ||
	    !tenon_dtype_equal(have->dtype, want->dtype)) {
		differs(p, "%s: %llu elements, want %llu, or another dtype", what,
			(unsigned long long)n, (unsigned long long)m);
		return;
	}
	for (i = 0; i < n; i++) {
		a = element(have, i);
		b = element(want, i);
		if (exact ? a != b : !(fabs(a - b) <= atol + RTOL * fabs(b))) {
			differs(p, "%s: element %llu is %.9g, want %.9g", what,
				(unsigned long long)i, a, b);
			return;
		}
	}
}

static void play_expect(struct player *p, const cJSON *line, const char *what)
{
	const char *name = text_of(line, "of");
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(line, "item");
	struct tenon_value *v = name ? kept(p, name[0] == '$' ? name + 1 : name) : NULL;
	struct tenon_tensor *have, *want;
	struct tenon_array *array;
	DLTensor *t;

	if (v && item) {
		if (tenon_value_object(v, TENON_TYPE_ARRAY, &array) || item->valueint < 0 ||
		    item->valueint >= array->size) {
			differs(p, "%s has no item %d", name, item->valueint);
			return;
		}
		v = &array->data[item->valueint];
	}
	if (!v || tenon_value_tensor(v, &t)) {
		differs(p, "%s is no tensor", name ? name : "the value");
		tenon_error_clear();
		return;
	}
	have = to_host(t);
	want = tensor_of(p, what);
	compare(p, what, &have->dl, &want->dl);
	tenon_object_unref(have);
	tenon_object_unref(want);
}

/* ---- the model */

static struct tenon_value call_on(struct tenon_module *m, const char *name,
				  const struct tenon_value *args, int32_t count)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;

	require(tenon_module_find_function(m, tenon_slice_of(name), true, &f), name);
	if (!f)
		stop("model.so has no %s", name);
	require(tenon_function_call(f, args, count, &ret), name);
	tenon_object_unref(f);
	return ret;
}

static void open_model(struct player *p)
{
	const struct tenon_value all[] = { tenon_arg_int(p->device.device_type),
					   tenon_arg_int(p->device.device_id),
					   tenon_arg_int(2),
					   tenon_arg_int(kDLCPU),
					   tenon_arg_int(0),
					   tenon_arg_int(2) };
	struct tenon_value machine;
	struct tenon_module *library;
	char path[4096];

	snprintf(path, sizeof(path), "%s/model.so", p->folder);
	require(tenon_module_load(path, &library), path);
	machine = call_on(library, "vm_load_executable", NULL, 0);
	require(tenon_value_object(&machine, TENON_TYPE_MODULE, &p->machine), "vm_load_executable");
	call_on(p->machine, "vm_initialization", all, p->device.device_type == kDLCPU ? 3 : 6);
	tenon_object_unref(library);
}

static void play(struct player *p, const cJSON *lines)
{
	const cJSON *line;
	const char *name;

	cJSON_ArrayForEach(line, lines)
	{
		p->at++;
		if ((name = text_of(line, "call")))
			play_call(p, line, name);
		else if ((name = text_of(line, "view")))
			play_view(p, line, name);
		else if ((name = text_of(line, "expect")))
			play_expect(p, line, name);
		else
			stop("call %d: neither call, view nor expect", p->at);
	}
}

int main(int argc, char **argv)
{
	struct player p = { .device = { kDLCPU, 0 } };
	struct tenon_device *device = NULL;
	cJSON *lines;
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--device") && i + 1 < argc) {
			i++;
			require(tenon_device_open(argv[i], &device), argv[i]);
			p.device = tenon_device_id(device);
		} else if (!p.folder && argv[i][0] != '-') {
			p.folder = argv[i];
		} else {
			stop("usage: calls FOLDER [--device URI]");
		}
	}
	if (!p.folder && !(p.folder = getenv("TENON_LLM_CALLS"))) {
		printf("TENON_LLM_CALLS names no folder with a calls.json\n");
		return 77;
	}
	lines = read_json(p.folder, "calls.json");
	open_model(&p);
	play(&p, lines);
	printf("%d calls, %d different\n", p.at, p.different);
	while (p.kept_count-- > 0) {
		free(p.kept[p.kept_count].name);
		tenon_value_release(&p.kept[p.kept_count].value);
	}
	tenon_object_unref(p.machine);
	tenon_object_unref(device);
	cJSON_Delete(lines);
	tenon_device_close_all();
	return p.different != 0;
}
