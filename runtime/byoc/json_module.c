/* SPDX-License-Identifier: MIT */
/* Functions of the module: take constants once, check arguments, run the program. */
#include "runtime/byoc/json_module.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/array.h>
#include <tenon/backend/buffer.h>
#include <tenon/backend/module_kind.h>
#include <tenon/tensor.h>
#include <tenon/visit.h>

#include "lib/brief_errors.h"
#include "runtime/core/arguments.h"

#define INIT "__init_"

/* Arguments whose addresses a call keeps on its stack. */
#define ARGUMENTS_MOST 256

enum function_of { CALL, INITIALISE, SYMBOL, CONST_NAMES };

struct json_module {
	struct tenon_module base;
	const struct byoc_library *library;
	struct byoc_graph graph;
	char *bytes; /* the payload */
	size_t size;
	struct tenon_slice symbol;  /* in @bytes */
	struct tenon_slice json;    /* in @bytes */
	struct tenon_slice *consts; /* names, in @bytes */
	uint64_t const_count;
	pthread_mutex_t lock; /* protects making the program */
	struct tenon_object **tensors;
	void *program; /* of the library; set with release order once it is made */
};

struct json_function {
	struct json_module *module;
	enum function_of what;
};

static struct json_module *json_of(const struct tenon_module *m)
{
	return (struct json_module *)(uintptr_t)m;
}

/* ---- initialisation */

static void drop_tensors(struct json_module *m)
{
	uint64_t i;

	for (i = 0; m->tensors && i < m->const_count; i++)
		tenon_object_unref(m->tensors[i]);
	free(m->tensors);
	m->tensors = NULL;
}

/* The data of a tensor for an entry, after checks. @what and @index name it in messages. */
static int data_of(const struct json_module *m, const struct tenon_value *value, uint32_t entry,
		   const char *what, uint32_t index, void **out)
{
	const struct byoc_entry *e = &m->graph.entries[entry];
	const DLDataType type = byoc_dtype(e->type);
	DLTensor *dl;
	size_t bytes;
	int err;

	err = tenon_value_tensor(value, &dl);
	if (!err)
		err = tenon_tensor_bytes(dl, &bytes);
	if (err)
		return tenon_error_in(err, "%.*s: %s %u", json_shown(m->symbol), m->symbol.data,
				      what, index);
	if (dl->dtype.code != type.code || dl->dtype.bits != type.bits || dl->dtype.lanes != 1 ||
	    dl->device.device_type != kDLCPU || bytes != e->bytes || !tenon_tensor_compact(dl))
		return tenon_error(-TENON_E_VALUE,
				   "%.*s: %s %u is no %s tensor of %zu bytes in host memory "
				   "without gaps",
				   json_shown(m->symbol), m->symbol.data, what, index,
				   byoc_type_name(e->type), e->bytes);
	*out = (char *)dl->data + dl->byte_offset;
	return 0;
}

static int check_types(const struct byoc_graph *g)
{
	const struct byoc_node *n;
	uint32_t i;

	for (i = 0; i < g->entry_count; i++) {
		n = &g->nodes[g->entries[i].node];
		if (g->entries[i].type == BYOC_OTHER)
			return json_error(&g->json, n->attrs, -TENON_E_UNSUPPORTED,
					  "\"%.*s\" is not float32, int32, int8 or uint8",
					  json_shown(n->name), n->name.data);
	}
	return 0;
}

/* With the lock held. */
static int make_program(struct json_module *m, const struct tenon_value *values, uint64_t count)
{
	void **constants, *program = NULL;
	uint64_t i;
	int err = 0;

	if (count != m->const_count || count != m->graph.constant_count)
		return tenon_error(-TENON_E_VALUE,
				   "%.*s: %" PRIu64 " constants given, the payload names %" PRIu64
				   " and the graph has %u",
				   json_shown(m->symbol), m->symbol.data, count, m->const_count,
				   m->graph.constant_count);
	constants = calloc((size_t)count + 1, sizeof(*constants));
	m->tensors = calloc((size_t)count + 1, sizeof(*m->tensors));
	if (!constants || !m->tensors)
		err = tenon_error(-TENON_E_NOMEM, "no memory for constants");
	if (!err)
		err = check_types(&m->graph);
	for (i = 0; i < count && !err; i++) {
		err = data_of(m, &values[i], m->graph.constants[i], "constant", (uint32_t)i,
			      &constants[i]);
		if (!err)
			err = tenon_value_object(&values[i], TENON_TYPE_TENSOR, &m->tensors[i]);
		if (!err)
			tenon_object_ref(m->tensors[i]);
		else
			m->tensors[i] = NULL;
	}
	if (!err)
		err = m->library->make(&m->graph, constants, &program);
	if (err)
		drop_tensors(m);
	else
		__atomic_store_n(&m->program, program, __ATOMIC_RELEASE);
	free(constants);
	return err;
}

static int ready(struct json_module *m, const struct tenon_value *values, uint64_t count)
{
	int err = 0;

	if (__atomic_load_n(&m->program, __ATOMIC_ACQUIRE))
		return 0;
	pthread_mutex_lock(&m->lock);
	if (!m->program)
		err = make_program(m, values, count);
	pthread_mutex_unlock(&m->lock);
	return err;
}

static int call_init(struct json_module *m, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret)
{
	struct tenon_object *object;
	const struct tenon_array *array;
	int err;

	if (count != 1)
		return tenon_error(-TENON_E_TYPE, INIT "%.*s takes an array of constants",
				   json_shown(m->symbol), m->symbol.data);
	err = tenon_value_object(&args[0], TENON_TYPE_ARRAY, &object);
	if (err)
		return err;
	array = (const struct tenon_array *)object;
	err = ready(m, array->data, (uint64_t)array->size);
	*ret = tenon_arg_int(0);
	return err;
}

/* ---- calls */

static int call_graph(struct json_module *m, const struct tenon_value *args, int32_t count,
		      struct tenon_value *ret)
{
	const struct byoc_graph *g = &m->graph;
	const uint32_t wanted = g->input_count + g->head_count;
	void *data[ARGUMENTS_MOST];
	int32_t i;
	int err;

	if (wanted > ARGUMENTS_MOST)
		return tenon_error(-TENON_E_UNSUPPORTED, "%.*s takes %u arguments, at most %d",
				   json_shown(m->symbol), m->symbol.data, wanted, ARGUMENTS_MOST);
	if (count < 0 || (uint32_t)count != wanted)
		return tenon_error(-TENON_E_TYPE,
				   "%.*s: %d arguments given, want %u: %u inputs, then %u outputs",
				   json_shown(m->symbol), m->symbol.data, count, wanted,
				   m->graph.input_count, m->graph.head_count);
	if (m->const_count && !__atomic_load_n(&m->program, __ATOMIC_ACQUIRE))
		return tenon_error(-TENON_E_CALL,
				   "%.*s has no constants yet: call " INIT "%.*s first, or load it "
				   "with its const_loader module",
				   json_shown(m->symbol), m->symbol.data, json_shown(m->symbol),
				   m->symbol.data);
	err = ready(m, NULL, 0);
	for (i = 0; i < count && !err; i++)
		err = data_of(m, &args[i],
			      (uint32_t)i < g->input_count ? g->inputs[i]
							   : g->heads[(uint32_t)i - g->input_count],
			      "argument", (uint32_t)i, &data[i]);
	*ret = tenon_arg_none();
	return err ? err : m->library->run(m->program, data);
}

static int make_names(const struct json_module *m, struct tenon_value *out)
{
	struct tenon_value *names = calloc((size_t)m->const_count + 1, sizeof(*names));
	struct tenon_array *array = NULL;
	uint64_t i, made = 0;
	int err = names ? 0 : tenon_error(-TENON_E_NOMEM, "no memory for names");

	for (i = 0; i < m->const_count && !err; i++) {
		err = tenon_string_value(m->consts[i], &names[i]);
		made += !err;
	}
	if (!err)
		err = tenon_array_create(names, (size_t)m->const_count, &array);
	for (i = 0; i < made; i++)
		tenon_value_release(&names[i]);
	free(names);
	if (!err)
		*out = tenon_arg_object(array);
	return err;
}

static PACKED_CALL(json_call)
{
	const struct json_function *f = self;

	switch (f->what) {
	case CALL:
		return call_graph(f->module, args, count, ret);
	case INITIALISE:
		return call_init(f->module, args, count, ret);
	case SYMBOL:
		return tenon_string_value(f->module->symbol, ret);
	default:
		return make_names(f->module, ret);
	}
}

static void release_function(void *self)
{
	struct json_function *f = self;

	tenon_object_unref(f->module);
	free(f);
}

/* ---- the module */

static int find_function(const struct json_module *m, struct tenon_slice name)
{
	const size_t init = strlen(INIT);

	if (tenon_slice_equal(name, m->symbol))
		return CALL;
	if (name.size == init + m->symbol.size && !memcmp(name.data, INIT, init) &&
	    !memcmp(name.data + init, m->symbol.data, m->symbol.size))
		return INITIALISE;
	if (tenon_slice_equal(name, tenon_slice_of("get_symbol")))
		return SYMBOL;
	return tenon_slice_equal(name, tenon_slice_of("get_const_vars")) ? CONST_NAMES : -1;
}

static int json_get_function(struct tenon_module *base, struct tenon_slice name,
			     struct tenon_function **out)
{
	struct json_function *f;
	int err, what = find_function(json_of(base), name);

	*out = NULL;
	if (what < 0)
		return 0;
	f = malloc(sizeof(*f));
	if (!f)
		return tenon_error(-TENON_E_NOMEM, "no memory for a function");
	*f = (struct json_function){ json_of(base), (enum function_of)what };
	err = tenon_function_create(f, json_call, release_function, out);
	if (err)
		free(f);
	else
		tenon_object_ref(base);
	return err;
}

static int json_each_function(struct tenon_module *base,
			      int (*visit)(void *context, struct tenon_slice name), void *context)
{
	return visit(context, json_of(base)->symbol);
}

static int json_save(struct tenon_module *base, struct tenon_buffer *out)
{
	const struct json_module *m = json_of(base);

	return tenon_buffer_append(out, m->bytes, m->size);
}

static int json_source(struct tenon_module *base, const char *format, struct tenon_value *out)
{
	if (format && *format && strcmp(format, "json"))
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "no format \"%s\": the only one is \"json\"", format);
	return tenon_string_value(json_of(base)->json, out);
}

static int show(const struct tenon_visitor *v, const char *name, struct tenon_value value)
{
	int err = v->field(v->context, name, &value);

	tenon_value_release(&value);
	return err;
}

static int json_visit(const struct tenon_module *base, const struct tenon_visitor *v)
{
	const struct json_module *m = json_of(base);
	struct tenon_value names, functions = tenon_arg_none();
	struct tenon_array *array;
	int err;

	err = tenon_string_value(m->symbol, &functions);
	if (!err)
		err = tenon_array_create(&functions, 1, &array);
	tenon_value_release(&functions);
	if (!err)
		err = show(v, "functions", tenon_arg_object(array));
	if (!err)
		err = make_names(m, &names);
	if (!err)
		err = show(v, "constants", names);
	if (!err)
		err = show(v, "nodes", tenon_arg_int(m->graph.node_count));
	return err ? err : show(v, "size", tenon_arg_int((int64_t)m->size));
}

static void json_destroy(struct tenon_module *base)
{
	struct json_module *m = json_of(base);

	if (m->program)
		m->library->destroy(m->program);
	drop_tensors(m);
	byoc_graph_fini(&m->graph);
	pthread_mutex_destroy(&m->lock);
	free(m->consts);
	free(m->bytes);
}

static const struct tenon_module_ops json_ops = {
	.get_function = json_get_function,
	.each_function = json_each_function,
	.save = json_save,
	.source = json_source,
	.visit = json_visit,
	.destroy = json_destroy,
};

static int read_payload(struct json_module *m, struct tenon_cursor *c)
{
	uint64_t i;
	int err;

	err = tenon_cursor_string(c, &m->symbol);
	if (!err)
		err = tenon_cursor_string(c, &m->json);
	if (!err)
		err = tenon_cursor_count(c, 8, &m->const_count);
	if (err)
		return err;
	m->consts = calloc((size_t)m->const_count + 1, sizeof(*m->consts));
	if (!m->consts)
		return tenon_error(-TENON_E_NOMEM, "no memory for names");
	for (i = 0; i < m->const_count && !err; i++)
		err = tenon_cursor_string(c, &m->consts[i]);
	return err;
}

/* Copy the payload, and let the slices point into the copy. */
static int own_payload(struct json_module *m, const uint8_t *from, size_t size)
{
	uint64_t i;

	m->bytes = malloc(size + 1);
	if (!m->bytes)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu bytes of a graph", size);
	memcpy(m->bytes, from, size);
	m->size = size;
	m->symbol.data = m->bytes + (m->symbol.data - (const char *)from);
	m->json.data = m->bytes + (m->json.data - (const char *)from);
	for (i = 0; i < m->const_count; i++)
		m->consts[i].data = m->bytes + (m->consts[i].data - (const char *)from);
	return 0;
}

int byoc_module_load(const struct byoc_library *library, struct tenon_cursor *c,
		     struct tenon_module **out)
{
	const uint8_t *from = c->at;
	struct json_module *m;
	int err;

	*out = NULL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return tenon_error(-TENON_E_NOMEM, "no memory for a module");
	m->library = library;
	tenon_module_init(&m->base, &json_ops, tenon_slice_of(library->kind),
			  TENON_MODULE_SERIALIZABLE | TENON_MODULE_RUNNABLE);
	pthread_mutex_init(&m->lock, NULL);
	err = read_payload(m, c);
	if (!err)
		err = own_payload(m, from, (size_t)(c->at - from));
	if (!err)
		err = byoc_graph_read(m->json, c->name, &m->graph);
	if (!err && m->graph.constant_count != m->const_count)
		err = tenon_cursor_error(c, -TENON_E_FORMAT,
					 "%" PRIu64 " names for %u constants of the graph",
					 m->const_count, m->graph.constant_count);
	if (err) {
		tenon_object_unref(m);
		return err;
	}
	*out = &m->base;
	return 0;
}
