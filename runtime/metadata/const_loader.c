/* SPDX-License-Identifier: MIT */
/* Read the constants of a module, make them tensors, and call the initialisers of imports. */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/array.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "lib/cursor_fast.h"
#include "lib/large_pages.h"
#include "lib/slice_text.h"
#include "lib/string_map.h"
#include "runtime/core/arguments.h"
#include "runtime/core/saved_tensor.h"
#include "runtime/core/visit_field.h"
#include "runtime/metadata/metadata.h"

/* a constant: a tensor and its name in the graph */
struct constant {
	struct tenon_slice name;
	struct saved_tensor saved;
	struct tenon_tensor *tensor; /* created on first use */
};

/*
 * a function of an imported module, and the constants which that module needs before the first call
 */
struct symbol {
	struct tenon_slice name;
	struct tenon_cursor wanted; /* names of constants, in order */
	uint64_t wanted_count;
	bool ready;
};

/*
 * memory that copies of constants share: a page fault for each 4 KiB takes longer than copying
 */
struct constant_block {
	struct tenon_object object;
	char *data;
	size_t used;
};

struct const_module {
	struct tenon_module base;
	struct constant *constants;
	uint64_t constant_count;
	struct symbol *symbols;
	uint64_t symbol_count;
	struct constant_block *block; /* NULL until it is needed */
	struct string_map names;      /* name of a constant to its index plus one */
	struct tenon_slice bytes;     /* the payload, for saving */
	struct tenon_object *keep;    /* keeps @bytes alive; NULL: owned by this module */
	pthread_mutex_t lock; /* protects creation of tensors and initialisation of symbols */
};

static struct const_module *const_of(const struct tenon_module *m)
{
	return (struct const_module *)(uintptr_t)m;
}

static void block_delete(void *self, int flags)
{
	struct constant_block *block = self;

	if (flags & TENON_DELETE_CONTENT)
		free(block->data);
	if (flags & TENON_DELETE_MEMORY)
		free(block);
}

/* Bytes of a constant in the block. */
static size_t block_bytes(const struct constant *c)
{
	return (c->saved.data.size + TENON_TENSOR_ALIGN - 1) & -(size_t)TENON_TENSOR_ALIGN;
}

/* Take memory for all constants that are copied. */
static int take_block(struct const_module *m)
{
	struct constant_block *block = malloc(sizeof(*block));
	size_t size = 0;
	uint64_t i;

	for (i = 0; i < m->constant_count; i++)
		if (!saved_tensor_in_place(&m->constants[i].saved, m->keep))
			size += block_bytes(&m->constants[i]);
	if (block)
		block->data = large_pages_take(size);
	if (!block || !block->data) {
		free(block);
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu bytes of constants", size);
	}
	block->used = 0;
	tenon_object_init(&block->object, TENON_TYPE_OBJECT, block_delete);
	m->block = block;
	return 0;
}

/* Copy a constant behind those before it. */
static int copy_constant(struct const_module *m, struct constant *c)
{
	int err = m->block ? 0 : take_block(m);

	if (!err)
		err = saved_tensor_copy(&c->saved, m->block->data + m->block->used,
					&m->block->object, &c->tensor);
	if (!err)
		m->block->used += block_bytes(c);
	return err;
}

static int make_tensor(struct const_module *m, struct constant *c)
{
	int err;

	if (c->tensor)
		return 0;
	if (saved_tensor_in_place(&c->saved, m->keep))
		err = saved_tensor_make(&c->saved, m->keep, &c->tensor);
	else
		err = copy_constant(m, c);
	return err ? tenon_error_in(err, "constant \"%.*s\"", (int)c->name.size, c->name.data) : 0;
}

static int wanted_constant(struct const_module *m, const struct symbol *s, struct tenon_slice name,
			   struct constant **out)
{
	uintptr_t place = (uintptr_t)string_map_get(&m->names, name);

	if (!place)
		return tenon_error(-TENON_E_NOT_FOUND,
				   "function \"%.*s\" wants the constant \"%.*s\", which is not "
				   "among the %" PRIu64 " here",
				   (int)s->name.size, s->name.data, (int)name.size, name.data,
				   m->constant_count);
	*out = &m->constants[place - 1];
	return make_tensor(m, *out);
}

/* Make the array of a symbol's constants, in its order. */
static int wanted_array(struct const_module *m, const struct symbol *s, struct tenon_value *out)
{
	struct visit_list list = { 0 };
	struct tenon_cursor c = s->wanted;
	struct tenon_value value;
	struct tenon_slice name;
	struct constant *constant = NULL;
	uint64_t i;
	int err = 0;

	for (i = 0; i < s->wanted_count && !err; i++) {
		err = tenon_cursor_string(&c, &name);
		if (!err)
			err = wanted_constant(m, s, name, &constant);
		if (err)
			break;
		tenon_object_ref(constant->tensor);
		value = tenon_arg_object(constant->tensor);
		err = visit_list_add(&list, &value);
	}
	if (err && !list.status)
		list.status = err;
	return visit_list_value(&list, out);
}

static int call_init(struct const_module *m, const struct symbol *s, struct tenon_function *init)
{
	struct tenon_value array, ret = tenon_arg_none();
	int64_t result;
	int err;

	err = wanted_array(m, s, &array);
	if (err)
		return err;
	err = tenon_function_call(init, &array, 1, &ret);
	tenon_value_release(&array);
	if (err)
		return tenon_error_in(err < 0 ? err : -TENON_E_CALL, "__init_%.*s",
				      (int)s->name.size, s->name.data);
	/* Compiled code returns 0; functions in other languages return None. */
	if (ret.type != TENON_TYPE_NONE && (tenon_value_int(&ret, &result) || result)) {
		tenon_value_release(&ret);
		return tenon_error(-TENON_E_CALL, "__init_%.*s refused its constants",
				   (int)s->name.size, s->name.data);
	}
	return 0;
}

/* Pass a symbol's constants to the first import that has an __init_ function for it. */
static int hand_over(struct const_module *m, struct symbol *s)
{
	struct tenon_function *init = NULL;
	struct tenon_buffer name = TENON_BUFFER_INIT;
	size_t i;
	int err;

	err = tenon_buffer_printf(&name, "__init_%.*s", (int)s->name.size, s->name.data);
	for (i = 0; i < m->base.import_count && !err && !init; i++)
		err = tenon_module_find_function(m->base.imports[i],
						 (struct tenon_slice){ name.data, name.size },
						 false, &init);
	tenon_buffer_fini(&name);
	/* Set before the call: the callee may look up this function again. */
	s->ready = !err;
	if (!err && init)
		err = call_init(m, s, init);
	s->ready = !err;
	tenon_object_unref(init);
	return err;
}

static int make_ready(struct const_module *m, struct tenon_slice name)
{
	uint64_t i;
	int err = 0;

	for (i = 0; i < m->symbol_count; i++) {
		if (!tenon_slice_equal(m->symbols[i].name, name))
			continue;
		pthread_mutex_lock(&m->lock);
		if (!m->symbols[i].ready)
			err = hand_over(m, &m->symbols[i]);
		pthread_mutex_unlock(&m->lock);
		break;
	}
	return err;
}

static int add_pair(struct visit_list *list, struct constant *c)
{
	struct tenon_value pair[2] = { tenon_arg_none(), tenon_arg_object(c->tensor) };
	struct tenon_array *array;
	struct tenon_value value;
	int err;

	err = tenon_string_value(c->name, &pair[0]);
	if (!err)
		err = tenon_array_create(pair, 2, &array);
	tenon_value_release(&pair[0]);
	if (err)
		return err;
	value = tenon_arg_object(array);
	return visit_list_add(list, &value);
}

static int make_map(struct const_module *m, struct tenon_value *out)
{
	struct tenon_value pairs[2 * TENON_MAP_MOST];
	struct tenon_map *map = NULL;
	uint64_t i, n = 0;
	int err = 0;

	for (i = 0; i < m->constant_count && !err; i++) {
		err = tenon_string_value(m->constants[i].name, &pairs[2 * i]);
		if (err)
			break;
		pairs[2 * i + 1] = tenon_arg_object(m->constants[i].tensor);
		n++;
	}
	if (!err)
		err = tenon_map_create(pairs, (size_t)n, &map);
	for (i = 0; i < n; i++)
		tenon_value_release(&pairs[2 * i]);
	*out = tenon_arg_object(map);
	return err;
}

/* The function that returns all constants; TVM 0.22 and later call it get_const_var_tensor. */
static bool is_constants(struct tenon_slice name)
{
	return slice_is(name, "get_const_var_tensor") || slice_is(name, "get_const_var_ndarray");
}

/* All constants by name, as a map where one can be made (tenon/array.h). */
static PACKED_CALL(call_constants)
{
	struct const_module *m = self;
	struct visit_list list = { 0 };
	uint64_t i;
	int err = arguments_check("get_const_var_tensor", count, 0, 0);

	if (err)
		return err;
	pthread_mutex_lock(&m->lock);
	for (i = 0; i < m->constant_count && !err; i++)
		err = make_tensor(m, &m->constants[i]);
	pthread_mutex_unlock(&m->lock);
	if (err)
		return err;
	if (m->constant_count <= TENON_MAP_MOST)
		return make_map(m, ret);
	for (i = 0; i < m->constant_count && !err; i++)
		err = add_pair(&list, &m->constants[i]);
	if (err && !list.status)
		list.status = err;
	return visit_list_value(&list, ret);
}

static int const_get_function(struct tenon_module *base, struct tenon_slice name,
			      struct tenon_function **out)
{
	struct const_module *m = const_of(base);
	size_t i;
	int err;

	*out = NULL;
	if (is_constants(name)) {
		tenon_object_ref(m);
		err = tenon_function_create(m, call_constants, tenon_object_unref, out);
		if (err)
			tenon_object_unref(m);
		return err;
	}
	err = make_ready(m, name);
	for (i = 0; i < base->import_count && !err && !*out; i++)
		err = tenon_module_find_function(base->imports[i], name, false, out);
	/* TVM stops here and lets its caller walk the tree; the result is the same. */
	for (i = 0; i < base->import_count && !err && !*out; i++)
		err = tenon_module_find_function(base->imports[i], name, true, out);
	return err;
}

/* List these names, so that a lookup from above reaches this module before the import. */
static int const_each_function(struct tenon_module *base,
			       int (*visit)(void *context, struct tenon_slice name), void *context)
{
	struct const_module *m = const_of(base);
	uint64_t i;
	int err;

	err = visit(context, tenon_slice_of("get_const_var_tensor"));
	if (!err)
		err = visit(context, tenon_slice_of("get_const_var_ndarray"));
	for (i = 0; i < m->symbol_count && !err; i++)
		err = visit(context, m->symbols[i].name);
	return err;
}

static int const_save(struct tenon_module *base, struct tenon_buffer *out)
{
	return tenon_buffer_slice(out, const_of(base)->bytes);
}

static int const_visit(const struct tenon_module *base, const struct tenon_visitor *v)
{
	const struct const_module *m = const_of(base);
	struct visit_list functions = { 0 }, names = { 0 };
	uint64_t i, bytes = 0;
	int err;

	for (i = 0; i < m->symbol_count; i++)
		visit_list_text(&functions, m->symbols[i].name);
	for (i = 0; i < m->constant_count; i++) {
		visit_list_text(&names, m->constants[i].name);
		bytes += m->constants[i].saved.data.size;
	}
	err = visit_list_show(&functions, v, "functions");
	if (!err)
		err = visit_list_show(&names, v, "constants");
	else
		visit_list_drop(&names);
	if (!err)
		err = visit_number(v, "parameters", m->constant_count);
	if (!err)
		err = visit_number(v, "parameter_bytes", bytes);
	if (!err)
		err = visit_number(v, "size", m->bytes.size);
	return err ? err : visit_text(v, "loader", tenon_slice_of("ready"));
}

static void const_destroy(struct tenon_module *base)
{
	struct const_module *m = const_of(base);
	uint64_t i;

	for (i = 0; i < m->constant_count; i++)
		tenon_object_unref(m->constants[i].tensor);
	tenon_object_unref(m->block);
	string_map_fini(&m->names);
	free(m->constants);
	free(m->symbols);
	pthread_mutex_destroy(&m->lock);
	if (m->keep)
		tenon_object_unref(m->keep);
	else
		free((void *)(uintptr_t)m->bytes.data);
}

static const struct tenon_module_ops const_ops = {
	.get_function = const_get_function,
	.each_function = const_each_function,
	.save = const_save,
	.visit = const_visit,
	.destroy = const_destroy,
};

static int read_constants(struct const_module *m, struct tenon_cursor *c)
{
	uint64_t i, names, count;
	void **slot;
	int err;

	err = take_count(c, 8, &names);
	if (err)
		return err;
	m->constants = calloc((size_t)names + 1, sizeof(*m->constants));
	if (!m->constants)
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu64 " constants", names);
	m->constant_count = names;
	for (i = 0; i < names && !err; i++)
		err = take_string(c, &m->constants[i].name);
	if (!err)
		err = take_count(c, SAVED_TENSOR_LEAST, &count);
	if (!err && count != names)
		err = tenon_cursor_error(c, -TENON_E_FORMAT,
					 "%" PRIu64 " tensors for %" PRIu64 " names", count, names);
	for (i = 0; i < names && !err; i++) {
		err = saved_tensor_read(c, &m->constants[i].saved);
		if (err)
			break;
		slot = string_map_slot(&m->names, m->constants[i].name);
		if (!slot)
			return tenon_error(-TENON_E_NOMEM, "no memory for names");
		*slot = (void *)(uintptr_t)(i + 1);
	}
	return err;
}

static int read_symbols(struct const_module *m, struct tenon_cursor *c)
{
	uint64_t i, j, names, count;
	struct tenon_slice s;
	int err;

	err = take_count(c, 8, &names);
	if (err)
		return err;
	m->symbols = calloc((size_t)names + 1, sizeof(*m->symbols));
	if (!m->symbols)
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu64 " symbols", names);
	m->symbol_count = names;
	for (i = 0; i < names && !err; i++)
		err = take_string(c, &m->symbols[i].name);
	if (!err)
		err = take_count(c, 8, &count);
	if (!err && count != names)
		err = tenon_cursor_error(c, -TENON_E_FORMAT,
					 "%" PRIu64 " lists of constants for %" PRIu64 " symbols",
					 count, names);
	for (i = 0; i < names && !err; i++) {
		err = take_count(c, 8, &m->symbols[i].wanted_count);
		m->symbols[i].wanted = *c;
		for (j = 0; j < m->symbols[i].wanted_count && !err; j++)
			err = take_string(c, &s);
	}
	return err;
}

/* If no object keeps the bytes alive, copy them and point the slices into the copy. */
static int own_bytes(struct const_module *m, const struct tenon_cursor *c,
		     const struct tenon_payload *payload)
{
	size_t size = tenon_cursor_left(c);
	char *copy;

	m->bytes = (struct tenon_slice){ (const char *)c->at, size };
	m->keep = payload->keep;
	if (m->keep) {
		tenon_object_ref(m->keep);
		return 0;
	}
	copy = malloc(size + 1);
	m->bytes = (struct tenon_slice){ copy, 0 };
	if (!copy)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu bytes of constants", size);
	memcpy(copy, c->at, size);
	m->bytes.size = size;
	return 0;
}

static void recursive_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

int const_load(struct tenon_cursor *c, const struct tenon_payload *payload,
	       struct tenon_module **out)
{
	struct const_module *m;
	struct tenon_cursor own;
	int err;

	*out = NULL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return tenon_error(-TENON_E_NOMEM, "no memory for a module of constants");
	tenon_module_init(&m->base, &const_ops, tenon_slice_of(""),
			  TENON_MODULE_SERIALIZABLE | TENON_MODULE_RUNNABLE);
	/* Keep the kind under which the module was saved: "const_loader" or "metadata". */
	m->base.kind =
		tenon_slice_of(slice_is(payload->kind, "metadata") ? "metadata" : "const_loader");
	recursive_lock(&m->lock);
	err = own_bytes(m, c, payload);
	own = tenon_cursor_of(m->bytes.data, m->bytes.size, c->name, tenon_cursor_place(c));
	if (!err)
		err = read_constants(m, &own);
	if (!err)
		err = read_symbols(m, &own);
	if (err) {
		tenon_object_unref(m);
		return err;
	}
	m->bytes.size = (size_t)(own.at - own.start);
	c->at += m->bytes.size;
	*out = &m->base;
	return 0;
}
