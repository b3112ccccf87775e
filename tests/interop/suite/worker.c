/* SPDX-License-Identifier: MIT */
/*
 * Runs compiled code for another process: scripts/interop-suite replaces TVM's runtime by it. Requests come in
 * through descriptor 3, answers leave through descriptor 4; link.py is the other side and describes the messages.
 * Both ends are programs of this folder on one machine, so numbers are as the processor has them, and a message
 * that makes no sense ends the process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>
#include <unistd.h>

#define REQUESTS 3
#define ANSWERS	 4

/* keys of a callback's arguments start there; keys of tensors that were made here, the newest of which are kept */
#define FIRST_ARGUMENT 0x40000000U
#define FIRST_RESULT   0x80000000U
#define RESULTS_KEPT   64

/* what a message is made of while it is read or written */
struct message {
	char *data;
	size_t size;
	size_t at;
};

/* tensors of one call: those that the other process keeps too have a key, by which changes are sent back */
struct call_tensor {
	uint32_t key;
	struct tenon_tensor *tensor;
	char *before;
	size_t bytes;
};

struct call_tensors {
	struct call_tensor *list;
	size_t count;
};

/* tensors of earlier calls that something here still refers to: the other process has them under the same keys */
static struct call_tensors retained;
static uint32_t next_result = FIRST_RESULT;

/* objects that the other process refers to by number */
static struct tenon_value *kept;
static uint32_t kept_count;

static int serve(struct message *reply);

static void fail(const char *why)
{
	fprintf(stderr, "worker: %s\n", why);
	_exit(3);
}

static void *memory(void *old, size_t size)
{
	void *p = realloc(old, size ? size : 1);

	if (!p)
		fail("out of memory");
	return p;
}

/* ---- messages */

static void put(struct message *m, const void *bytes, size_t size)
{
	if (m->at + size > m->size) {
		m->size = 2 * (m->at + size);
		m->data = memory(m->data, m->size);
	}
	if (size)
		memcpy(m->data + m->at, bytes, size);
	m->at += size;
}

static void put_byte(struct message *m, char byte)
{
	put(m, &byte, 1);
}

static void put_u32(struct message *m, uint32_t number)
{
	put(m, &number, sizeof(number));
}

static void put_i64(struct message *m, int64_t number)
{
	put(m, &number, sizeof(number));
}

static void put_text(struct message *m, const char *text, size_t size)
{
	put_i64(m, (int64_t)size);
	put(m, text, size);
}

static const char *get(struct message *m, size_t size)
{
	const char *bytes = m->data + m->at;

	if (size > m->size - m->at)
		fail("a message ends too early");
	m->at += size;
	return bytes;
}

static void get_into(struct message *m, void *to, size_t size)
{
	memcpy(to, get(m, size), size);
}

static uint32_t get_u32(struct message *m)
{
	uint32_t number;

	get_into(m, &number, sizeof(number));
	return number;
}

static int64_t get_i64(struct message *m)
{
	int64_t number;

	get_into(m, &number, sizeof(number));
	return number;
}

static struct tenon_slice get_text(struct message *m)
{
	const size_t size = (size_t)get_i64(m);

	return (struct tenon_slice){ get(m, size), size };
}

/* as a string with a final NUL, to be freed */
static char *get_string(struct message *m)
{
	const struct tenon_slice text = get_text(m);
	char *string = memory(NULL, text.size + 1);

	memcpy(string, text.data, text.size);
	string[text.size] = '\0';
	return string;
}

static bool transfer(int descriptor, void *bytes, size_t size, bool out)
{
	char *at = bytes;

	while (size) {
		const ssize_t n = out ? write(descriptor, at, size) : read(descriptor, at, size);

		if (n <= 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

static void send_message(struct message *m)
{
	uint64_t size = m->at;

	if (!transfer(ANSWERS, &size, sizeof(size), true) ||
	    !transfer(ANSWERS, m->data, m->at, true))
		_exit(0);
	free(m->data);
}

static struct message receive(void)
{
	struct message m = { NULL, 0, 0 };
	uint64_t size;

	if (!transfer(REQUESTS, &size, sizeof(size), false))
		_exit(0);
	m.size = (size_t)size;
	m.data = memory(NULL, m.size);
	if (!transfer(REQUESTS, m.data, m.size, false))
		_exit(0);
	return m;
}

/* ---- values */

static uint32_t keep(const struct tenon_value *owned)
{
	kept = memory(kept, (kept_count + 1) * sizeof(*kept));
	kept[kept_count] = *owned;
	return kept_count++;
}

static const struct tenon_value *kept_at(uint32_t number)
{
	if (number >= kept_count)
		fail("an object that is not kept");
	return &kept[number];
}

static struct call_tensor *find_key(const struct call_tensors *tensors, uint32_t key)
{
	size_t i;

	for (i = 0; key && i < tensors->count; i++)
		if (tensors->list[i].key == key)
			return &tensors->list[i];
	return NULL;
}

static bool is_same_tensor(const DLTensor *a, const DLTensor *b)
{
	return a->data == b->data && a->byte_offset == b->byte_offset && a->ndim == b->ndim &&
	       memcmp(&a->dtype, &b->dtype, sizeof(a->dtype)) == 0 &&
	       memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof(*a->shape)) == 0;
}

static struct call_tensor *find_tensor(const struct call_tensors *tensors, const DLTensor *dl)
{
	size_t i;

	for (i = 0; i < tensors->count; i++)
		if (tensors->list[i].key && is_same_tensor(&tensors->list[i].tensor->dl, dl))
			return &tensors->list[i];
	return NULL;
}

static void add_tensor(struct call_tensors *tensors, uint32_t key, struct tenon_tensor *t,
		       size_t bytes)
{
	struct call_tensor *added;

	tensors->list = memory(tensors->list, (tensors->count + 1) * sizeof(*tensors->list));
	added = &tensors->list[tensors->count++];
	*added = (struct call_tensor){ key, t, NULL, bytes };
	if (key) {
		added->before = memory(NULL, bytes);
		memcpy(added->before, t->dl.data, bytes);
	}
}

/* a tensor that a callback may return */
static void add_argument(struct call_tensors *tensors, uint32_t key, struct tenon_object *tensor)
{
	tenon_object_ref(tensor);
	add_tensor(tensors, key, (struct tenon_tensor *)tensor, 0);
}

static struct tenon_value get_tensor(struct message *m, struct call_tensors *tensors)
{
	const uint32_t key = get_u32(m);
	struct call_tensor *known = find_key(tensors, key);
	struct tenon_tensor *t;
	DLDataType dtype;
	int64_t *shape;
	int32_t ndim;
	struct tenon_slice bytes;

	get_into(m, &dtype, sizeof(dtype));
	ndim = (int32_t)get_u32(m);
	shape = memory(NULL, (size_t)ndim * sizeof(*shape));
	get_into(m, shape, (size_t)ndim * sizeof(*shape));
	bytes = get_text(m);
	if (known) {
		free(shape);
		return tenon_arg_object(known->tensor);
	}
	known = find_key(&retained, key);
	if (known) {
		t = known->tensor;
		tenon_object_ref(t);
	} else if (tenon_tensor_create(shape, ndim, dtype, &t)) {
		fail(tenon_error_message());
	}
	free(shape);
	memcpy(t->dl.data, bytes.data, bytes.size);
	if (known)
		memcpy(known->before, bytes.data, bytes.size);
	add_tensor(tensors, key, t, bytes.size);
	return tenon_arg_object(t);
}

static int call_back(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret);

static void forget_callback(void *self)
{
	free(self);
}

static struct tenon_function *callback(uint32_t number)
{
	uint32_t *self = memory(NULL, sizeof(*self));
	struct tenon_function *f;

	*self = number;
	if (tenon_function_create(self, call_back, forget_callback, &f))
		fail("out of memory");
	return f;
}

static struct tenon_value get_value(struct message *m, struct call_tensors *tensors);

/* an array or a map; the items are owned by it afterwards */
static struct tenon_value get_items(struct message *m, struct call_tensors *tensors, bool is_map)
{
	const uint32_t count = get_u32(m) * (is_map ? 2 : 1);
	struct tenon_value *items = memory(NULL, count * sizeof(*items));
	struct tenon_array *array = NULL;
	struct tenon_map *map = NULL;
	uint32_t i;
	int err;

	for (i = 0; i < count; i++)
		items[i] = get_value(m, tensors);
	err = is_map ? tenon_map_create(items, count / 2, &map)
		     : tenon_array_create(items, count, &array);
	if (err)
		fail(tenon_error_message());
	for (i = 0; i < count; i++)
		if (items[i].type != TENON_TYPE_TENSOR)
			tenon_value_release(&items[i]);
	free(items);
	return is_map ? tenon_arg_object(map) : tenon_arg_object(array);
}

static struct tenon_value get_shape(struct message *m)
{
	const uint32_t count = get_u32(m);
	struct tenon_shape *shape;
	int64_t *extents = memory(NULL, count * sizeof(*extents));

	get_into(m, extents, count * sizeof(*extents));
	if (tenon_shape_create(extents, count, &shape))
		fail("out of memory");
	free(extents);
	return tenon_arg_object(shape);
}

/* an owned value; tensors stay with the call, which releases them */
static struct tenon_value get_value(struct message *m, struct call_tensors *tensors)
{
	struct tenon_value value = tenon_arg_none();
	DLDataType dtype;
	DLDevice device;
	double real;

	switch (*get(m, 1)) {
	case 'N':
		break;
	case 'i':
		value = tenon_arg_int(get_i64(m));
		break;
	case 'b':
		value = tenon_arg_bool(get_i64(m) != 0);
		break;
	case 'f':
		get_into(m, &real, sizeof(real));
		value = tenon_arg_float(real);
		break;
	case 'd':
		get_into(m, &dtype, sizeof(dtype));
		value = tenon_arg_dtype(dtype);
		break;
	case 'D':
		device.device_type = (DLDeviceType)get_u32(m);
		device.device_id = (int32_t)get_u32(m);
		value = tenon_arg_device(device);
		break;
	case 's':
		if (tenon_string_value(get_text(m), &value))
			fail("out of memory");
		break;
	case 'y':
		if (tenon_bytes_value(get_text(m), &value))
			fail("out of memory");
		break;
	case 't':
		value = get_tensor(m, tensors);
		break;
	case 'S':
		value = get_shape(m);
		break;
	case 'A':
		value = get_items(m, tensors, false);
		break;
	case 'M':
		value = get_items(m, tensors, true);
		break;
	case 'c':
		value = tenon_arg_object(callback(get_u32(m)));
		break;
	case 'o':
		tenon_value_own(kept_at(get_u32(m)), &value);
		break;
	default:
		fail("a value of unknown form");
	}
	return value;
}

/* A result on the host that is not a tensor of the other process: keep it, so that it stays the same object there. */
static uint32_t keep_result(const struct tenon_value *v, const DLTensor *dl)
{
	size_t bytes;

	if (v->type != TENON_TYPE_TENSOR || dl->device.device_type != kDLCPU ||
	    !tenon_tensor_compact(dl) || dl->byte_offset || tenon_tensor_bytes(dl, &bytes))
		return 0;
	tenon_object_ref(v->as.object);
	add_tensor(&retained, next_result, (struct tenon_tensor *)v->as.object, bytes);
	return next_result++;
}

static void put_tensor(struct message *m, struct call_tensors *tensors, const struct tenon_value *v,
		       uint32_t key)
{
	struct call_tensor *known = NULL;
	struct tenon_tensor *copy;
	size_t bytes = 0;
	DLTensor *dl;

	tenon_value_tensor(v, &dl);
	if (tensors) {
		known = find_tensor(tensors, dl);
		if (!known)
			known = find_tensor(&retained, dl);
	}
	if (known) {
		put_byte(m, 'k');
		put_u32(m, known->key);
		return;
	}
	if (tenon_tensor_create(dl->shape, dl->ndim, dl->dtype, &copy) ||
	    tenon_tensor_bytes(dl, &bytes) || tenon_tensor_copy(dl, &copy->dl))
		fail(tenon_error_message());
	put_byte(m, 't');
	put_u32(m, tensors ? keep_result(v, dl) : key);
	put(m, &dl->dtype, sizeof(dl->dtype));
	put_u32(m, (uint32_t)dl->ndim);
	put(m, dl->shape, (size_t)dl->ndim * sizeof(*dl->shape));
	put_text(m, copy->dl.data, bytes);
	tenon_object_unref(copy);
}

static void put_value(struct message *m, struct call_tensors *tensors, const struct tenon_value *v,
		      uint32_t key);

static void put_map(struct message *m, struct call_tensors *tensors, const struct tenon_map *map)
{
	const struct tenon_value *key, *value;
	const void *at = NULL;

	put_byte(m, 'M');
	put_u32(m, (uint32_t)map->size);
	while ((at = tenon_map_next(map, at, &key, &value)) != NULL) {
		put_value(m, tensors, key, 0);
		put_value(m, tensors, value, 0);
	}
}

/* an object that has no form in messages: it stays here, and the other process gets its number and type */
static void put_object(struct message *m, const struct tenon_value *v)
{
	const char *type = tenon_type_key(v->type);
	struct tenon_value owned;

	if (tenon_value_own(v, &owned))
		fail(tenon_error_message());
	put_byte(m, 'o');
	put_u32(m, keep(&owned));
	put_text(m, type ? type : "?", type ? strlen(type) : 1);
}

static void put_scalar(struct message *m, const struct tenon_value *v)
{
	static const char forms[] = { 'N', 'i', 'b', 'f', 'p', 'd', 'D' };

	put_byte(m, forms[v->type]);
	if (v->type == TENON_TYPE_INT || v->type == TENON_TYPE_BOOL || v->type == TENON_TYPE_FLOAT)
		put(m, &v->as, 8);
	else if (v->type == TENON_TYPE_DTYPE)
		put(m, &v->as.dtype, 4);
	else if (v->type == TENON_TYPE_DEVICE)
		put(m, &v->as.device, 8);
}

/* @key: by which changes of a borrowed tensor come back; 0 for none */
static void put_value(struct message *m, struct call_tensors *tensors, const struct tenon_value *v,
		      uint32_t key)
{
	const struct tenon_array *array;
	const struct tenon_shape *shape;
	struct tenon_slice text;
	DLTensor *dl;
	int64_t i;

	if (v->type < TENON_TYPE_DLTENSOR) {
		put_scalar(m, v);
	} else if (v->type == TENON_TYPE_BYTES || v->type == TENON_TYPE_SMALL_BYTES ||
		   v->type == TENON_TYPE_RAW_BYTES) {
		tenon_value_text(v, &text);
		put_byte(m, 'y');
		put_text(m, text.data, text.size);
	} else if (!tenon_value_text(v, &text)) {
		put_byte(m, 's');
		put_text(m, text.data, text.size);
	} else if (!tenon_value_tensor(v, &dl)) {
		put_tensor(m, tensors, v, key);
	} else if (v->type == TENON_TYPE_SHAPE) {
		shape = (const struct tenon_shape *)v->as.object;
		put_byte(m, 'S');
		put_u32(m, (uint32_t)shape->size);
		put(m, shape->data, shape->size * sizeof(*shape->data));
	} else if (v->type == TENON_TYPE_ARRAY || v->type == TENON_TYPE_LIST) {
		array = (const struct tenon_array *)v->as.object;
		put_byte(m, 'A');
		put_u32(m, (uint32_t)array->size);
		for (i = 0; i < array->size; i++)
			put_value(m, tensors, &array->data[i], 0);
	} else if (v->type == TENON_TYPE_MAP || v->type == TENON_TYPE_DICT) {
		put_map(m, tensors, (const struct tenon_map *)v->as.object);
	} else {
		tenon_error_clear();
		put_object(m, v);
	}
}

/* ---- calls */

/* Write those whose bytes are others than the other process knows; @already lists some that were written. */
static uint32_t put_changed(struct message *m, struct call_tensors *tensors,
			    const struct call_tensors *already)
{
	uint32_t count = 0;
	size_t i;

	for (i = 0; i < tensors->count; i++) {
		struct call_tensor *t = &tensors->list[i];

		if (!t->key || memcmp(t->before, t->tensor->dl.data, t->bytes) == 0)
			continue;
		memcpy(t->before, t->tensor->dl.data, t->bytes);
		if (already && find_key(already, t->key))
			continue;
		put_u32(m, t->key);
		put_text(m, t->before, t->bytes);
		count++;
	}
	return count;
}

static void put_changes(struct message *m, struct call_tensors *tensors)
{
	const size_t at = m->at;
	uint32_t count;

	put_u32(m, 0);
	count = put_changed(m, tensors, NULL) + put_changed(m, &retained, tensors);
	memcpy(m->data + at, &count, sizeof(count));
}

static bool has_one_owner(const struct tenon_tensor *t)
{
	return (uint32_t)t->object.refs == 1;
}

static void forget_tensor(struct call_tensor *t)
{
	tenon_object_unref(t->tensor);
	free(t->before);
}

static void forget_tensors(struct call_tensors *tensors)
{
	size_t i;

	for (i = 0; i < tensors->count; i++)
		forget_tensor(&tensors->list[i]);
	free(tensors->list);
}

/* Keep the tensors of a call that something refers to after it, and write their keys. */
static void retain_tensors(struct message *m, struct call_tensors *tensors)
{
	const size_t at = m->at;
	uint32_t count = 0;
	size_t i, left = 0;

	put_u32(m, 0);
	for (i = 0; i < tensors->count; i++) {
		struct call_tensor *t = &tensors->list[i];

		if (!t->key || has_one_owner(t->tensor) || find_key(&retained, t->key)) {
			forget_tensor(t);
			continue;
		}
		retained.list =
			memory(retained.list, (retained.count + 1) * sizeof(*retained.list));
		retained.list[retained.count++] = *t;
		put_u32(m, t->key);
		count++;
	}
	free(tensors->list);
	memcpy(m->data + at, &count, sizeof(count));
	for (i = 0; i < retained.count; i++) {
		const uint32_t key = retained.list[i].key;
		const bool is_result = key >= FIRST_RESULT && next_result - key <= RESULTS_KEPT;

		if (has_one_owner(retained.list[i].tensor) && !is_result)
			forget_tensor(&retained.list[i]);
		else
			retained.list[left++] = retained.list[i];
	}
	retained.count = left;
}

static void put_error(struct message *m)
{
	const char *kind = tenon_error_kind(), *text = tenon_error_message();

	put_byte(m, 'E');
	put_text(m, kind, strlen(kind));
	put_text(m, text, strlen(text));
	tenon_error_clear();
}

/* a function of the other process, called by code that runs here */
static int call_back(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret)
{
	struct message request = { NULL, 0, 0 }, reply;
	struct call_tensors known = { NULL, 0 };
	struct tenon_value value;
	uint32_t changed;
	DLTensor *dl;
	int32_t i;
	int err;

	put_byte(&request, 'C');
	put_u32(&request, *(uint32_t *)self);
	put_u32(&request, (uint32_t)count);
	for (i = 0; i < count; i++)
		put_value(&request, NULL, &args[i], FIRST_ARGUMENT + (uint32_t)i);
	send_message(&request);
	err = serve(&reply);
	if (err) {
		const struct tenon_slice kind = get_text(&reply), text = get_text(&reply);
		char *name = memory(NULL, kind.size + 1);

		memcpy(name, kind.data, kind.size);
		name[kind.size] = '\0';
		tenon_error_raise_text(name, &text, 1);
		free(name);
		free(reply.data);
		return -1;
	}
	for (i = 0; i < count; i++)
		if (args[i].type == TENON_TYPE_TENSOR)
			add_argument(&known, FIRST_ARGUMENT + (uint32_t)i, args[i].as.object);
	value = get_value(&reply, &known);
	for (changed = get_u32(&reply); changed; changed--) {
		const uint32_t argument = get_u32(&reply) - FIRST_ARGUMENT;
		const struct tenon_slice bytes = get_text(&reply);

		if (argument < (uint32_t)count && !tenon_value_tensor(&args[argument], &dl) &&
		    tenon_tensor_compact(dl))
			memcpy((char *)dl->data + dl->byte_offset, bytes.data, bytes.size);
	}
	free(reply.data);
	if (value.type == TENON_TYPE_TENSOR)
		tenon_object_ref(value.as.object);
	forget_tensors(&known);
	*ret = value;
	return 0;
}

static void call(struct message *m)
{
	const struct tenon_value *function = kept_at(get_u32(m));
	const uint32_t count = get_u32(m);
	struct tenon_value *args = memory(NULL, count * sizeof(*args));
	struct tenon_value ret = tenon_arg_none();
	struct call_tensors tensors = { NULL, 0 };
	struct message answer = { NULL, 0, 0 };
	uint32_t i;
	int err;

	for (i = 0; i < count; i++)
		args[i] = get_value(m, &tensors);
	err = tenon_function_call((struct tenon_function *)function->as.object, args,
				  (int32_t)count, &ret);
	if (err) {
		put_error(&answer);
	} else {
		put_byte(&answer, 'V');
		put_value(&answer, &tensors, &ret, 0);
	}
	put_changes(&answer, &tensors);
	tenon_value_release(&ret);
	for (i = 0; i < count; i++)
		if (args[i].type != TENON_TYPE_TENSOR)
			tenon_value_release(&args[i]);
	free(args);
	retain_tensors(&answer, &tensors);
	send_message(&answer);
}

/* ---- requests */

static void answer_object(int err, void *object)
{
	struct message answer = { NULL, 0, 0 };
	struct tenon_value value = tenon_arg_object(object);

	if (err) {
		put_error(&answer);
	} else {
		put_byte(&answer, 'V');
		put_value(&answer, NULL, &value, 0);
		tenon_object_unref(object);
	}
	put_u32(&answer, 0);
	put_u32(&answer, 0);
	send_message(&answer);
}

static void load(struct message *m)
{
	char *path = get_string(m);
	struct tenon_module *module = NULL;
	int err = tenon_module_load(path, &module);

	free(path);
	answer_object(err, module);
}

static void get_function(struct message *m)
{
	const struct tenon_value *module = kept_at(get_u32(m));
	const bool imports = *get(m, 1);
	const struct tenon_slice name = get_text(m);
	struct tenon_function *f = NULL;
	int err = tenon_module_find_function((struct tenon_module *)module->as.object, name,
					     imports, &f);

	answer_object(err, f);
}

static void get_imports(struct message *m)
{
	struct tenon_module *module = (struct tenon_module *)kept_at(get_u32(m))->as.object;
	const size_t count = tenon_module_import_count(module);
	struct tenon_value *items = memory(NULL, count * sizeof(*items));
	struct tenon_array *array = NULL;
	size_t i;
	int err;

	for (i = 0; i < count; i++)
		items[i] = tenon_arg_object(tenon_module_import_at(module, i));
	err = tenon_array_create(items, count, &array);
	free(items);
	answer_object(err, array);
}

static void find_global(struct message *m)
{
	struct tenon_function *f = NULL;
	int err = tenon_function_find_slice(get_text(m), &f);

	answer_object(err, f);
}

static bool is_callback(const struct tenon_function *f)
{
	static struct tenon_function *one;

	if (!one)
		one = callback(0);
	return f->call == one->call;
}

/* A function of the other process takes the place of another one, but not of one of Tenon's. */
static void register_callback(struct message *m)
{
	char *name = get_string(m);
	struct tenon_function *f = callback(get_u32(m)), *old = NULL;
	int err = tenon_function_find(name, &old);

	if (!err && (!old || is_callback(old)))
		err = tenon_function_register(name, f, true);
	answer_object(err, NULL);
	tenon_object_unref(old);
	tenon_object_unref(f);
	free(name);
}

static void drop(struct message *m)
{
	const uint32_t number = get_u32(m);

	kept_at(number);
	tenon_value_release(&kept[number]);
}

/* Serve requests until the answer to a callback comes: 0 with a value, 1 with an error, to be read from @reply. */
static int serve(struct message *reply)
{
	for (;;) {
		struct message m = receive();
		const char what = *get(&m, 1);

		switch (what) {
		case 'R':
		case 'X':
			*reply = m;
			return what == 'X';
		case 'L':
			load(&m);
			break;
		case 'F':
			get_function(&m);
			break;
		case 'I':
			get_imports(&m);
			break;
		case 'G':
			find_global(&m);
			break;
		case 'P':
			register_callback(&m);
			break;
		case 'C':
			call(&m);
			break;
		case 'D':
			drop(&m);
			break;
		default:
			fail("a request of unknown form");
		}
		free(m.data);
	}
}

int main(void)
{
	struct message reply;

	if (tenon_executors_register())
		fail(tenon_error_message());
	serve(&reply);
	fail("an answer without a question");
}
