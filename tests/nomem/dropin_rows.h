/* SPDX-License-Identifier: MIT */
/*
 * Call functions of the drop-in libraries once for each allocation in them, with that one failing, in a short
 * notation.
 *
 * Each returns what it returns undisturbed, or an error with a text. It can be called again right after, and nothing
 * is lost.
 */
#ifndef TESTS_NOMEM_DROPIN_ROWS_H
#define TESTS_NOMEM_DROPIN_ROWS_H

#include "tests/unit/dropin.h"

#include "tests/nomem/failing_malloc.h"

#define MOST 4

/*
 * A call. Arguments begin with a letter: i an integer, f a float, s a string, j a value in JSON, l a list and d a dict of one, g a graph
 * in JSON, t a tensor, m a map of a tensor, h a shape, R a recurrent state, p the bytes that parameters are saved to; n is None.
 * o and v are what a suite makes itself, v as the only reference to it.
 */
struct row {
	const char *function; /* of a type: an attribute or a method, and behind a space the type */
	const char *args[MOST + 1];
};

#define LONG		 "a text of more letters than fit into a value"
#define GRAPH(nodes)	 "g{\"root_index\": 0, \"nodes\": [" nodes "]}"
#define NODE(type, data) "{\"type\": \"ffi." type "\", \"data\": " data "}"

/* ---- arguments */

static void *make_array, *make_rnn, *add_sequence, *make_list, *make_dict, *make_map, *make_shape,
	*make_tensor, *parse, *load, *save, *iterate;

/* Make the argument of a suite's own; the text has the letter in front. */
static struct tenon_value (*make_own)(const char *arg);

static inline struct tenon_value text_of(const char *text)
{
	return tenon_arg_string(text);
}

static inline struct tenon_value make_tensor_value(void)
{
	struct tenon_value args[3], two = tenon_arg_int(2), v;

	args[0] = dropin_made(make_shape, &two, 1);
	args[1] = tenon_arg_dtype(tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	args[2] = tenon_arg_device((DLDevice){ kDLCPU, 0 });
	v = dropin_made(make_tensor, args, 3);
	dropin_release(&args[0]);
	return v;
}

static inline struct tenon_value make_params(void)
{
	struct tenon_value pair[2] = { text_of("weight"), make_tensor_value() }, v;

	v = dropin_made(make_map, pair, 2);
	dropin_release(&pair[1]);
	return v;
}

static inline int nothing(void *self, const struct tenon_value *args, int32_t count,
			  struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	*ret = tenon_arg_none();
	return 0;
}

/* A recurrent state of one layer and two sequences, of which 0 is there */
static inline struct tenon_value make_state(void)
{
	struct tenon_value args[6], f = tenon_arg_none(), t = make_tensor_value(), v;
	void *function;
	int i;

	assert_int_equal(ffi.create(NULL, nothing, NULL, &function), 0);
	f.type = TENON_TYPE_FUNCTION;
	f.as.object = function;
	args[0] = tenon_arg_int(1);
	args[1] = args[2] = tenon_arg_int(2);
	args[3] = dropin_made(make_array, &f, 1);
	args[4] = dropin_made(make_array, &f, 1);
	args[5] = dropin_made(make_array, &t, 1);
	v = dropin_made(make_rnn, args, 6);
	for (i = 3; i < 6; i++)
		dropin_release(&args[i]);
	dropin_release(&f);
	dropin_release(&t);
	args[0] = v;
	args[1] = tenon_arg_int(0);
	dropin_made(add_sequence, args, 2);
	return v;
}

/* A dict of the pairs of a map */
static inline struct tenon_value make_dict_of(const struct tenon_value *map)
{
	static const struct tenon_value next = { .type = TENON_TYPE_INT, .as.integer = 2 };
	struct tenon_value walk = dropin_made(iterate, map, 1), pairs[64], v;
	int32_t n = 0, i;

	do {
		for (i = 0; i < 2; i++) {
			v = tenon_arg_int(i);
			pairs[n++] = dropin_made(walk.as.object, &v, 1);
		}
	} while (dropin_made(walk.as.object, &next, 1).as.integer && n < 64);
	v = dropin_made(make_dict, pairs, n);
	while (n)
		dropin_release(&pairs[--n]);
	dropin_release(&walk);
	return v;
}

static inline struct tenon_value make_argument(const char *arg)
{
	struct tenon_value text = text_of(arg + 1), v, made;

	switch (*arg) {
	case 'i':
		return tenon_arg_int(strtoll(arg + 1, NULL, 10));
	case 'f':
		return tenon_arg_float(strtod(arg + 1, NULL));
	case 's':
		return text;
	case 'j':
		return dropin_made(parse, &text, 1);
	case 'g':
		return dropin_made(load, &text, 1);
	case 'l':
		v = dropin_made(parse, &text, 1);
		made = dropin_made(make_list, ((struct tenon_array *)v.as.object)->data,
				   (int32_t)((struct tenon_array *)v.as.object)->size);
		dropin_release(&v);
		return made;
	case 'd':
		v = dropin_made(parse, &text, 1);
		made = make_dict_of(&v);
		dropin_release(&v);
		return made;
	case 't':
		return make_tensor_value();
	case 'm':
		return make_params();
	case 'h':
		v = tenon_arg_int(strtoll(arg + 1, NULL, 10));
		return dropin_made(make_shape, &v, 1);
	case 'R':
		return make_state();
	case 'p':
		v = make_params();
		made = dropin_made(save, &v, 1);
		dropin_release(&v);
		return made;
	case 'o':
	case 'v':
		return make_own(arg);
	default:
		return tenon_arg_none();
	}
}

/* ---- calls */

static inline void *find_method(const struct type_info *t, struct tenon_slice name)
{
	int32_t i;

	for (i = 0; i < t->method_count; i++)
		if (tenon_slice_equal(t->methods[i].name, name))
			return t->methods[i].method.as.object;
	fail_msg("no %.*s of %.*s", (int)name.size, name.data, (int)t->key.size, t->key.data);
	return NULL;
}

/* The function of a row; the caller has no reference to it, as none of them is removed */
static inline void *find_function(const char *function)
{
	const char *space = strchr(function, ' ');
	struct tenon_slice name = { function, space ? (size_t)(space - function) : 0 }, key;
	const struct ffi_column *column;
	int32_t type;
	void *f;

	if (!space) {
		f = dropin_find(function);
		ffi.unref(f);
		return f;
	}
	key = tenon_slice_of(space + 1);
	assert_int_equal(ffi.type_index(&key, &type), 0);
	column = ffi.column(&name);
	if (column && type < column->size && column->data[type].type == TENON_TYPE_FUNCTION)
		return column->data[type].as.object;
	return find_method(ffi.type_info(type), name);
}

/* What a function returns undisturbed, if it is a text */
static char expected[1 << 16];
static size_t expected_size;

/* Keep the text that a call returned, or compare it: without memory it may fail, and not lack a part. */
static inline void check_text(const struct row *row, const struct tenon_value *ret, long n)
{
	struct tenon_slice text = { "", 0 };

	if (ret->type != TENON_TYPE_STRING && ret->type != TENON_TYPE_SMALL_STRING)
		return;
	assert_int_equal(tenon_value_text(ret, &text), 0);
	assert_true(text.size <= sizeof(expected));
	if (!n) {
		memcpy(expected, text.data, text.size);
		expected_size = text.size;
	} else if (text.size != expected_size || memcmp(text.data, expected, text.size)) {
		fail_msg("%s, allocation %ld: %.*s", row->function, n, (int)text.size, text.data);
	}
}

/* Call a row with allocation @n failing. Return: requests for memory; *@failed whether the call failed */
static inline long call_row(const struct row *row, void *f, long n, bool *failed)
{
	struct tenon_value own[MOST], args[MOST], ret = tenon_arg_none();
	struct dropin_error *error = NULL;
	int32_t count;
	long requests;

	for (count = 0; count < MOST && row->args[count]; count++) {
		own[count] = args[count] = make_argument(row->args[count]);
		if (*row->args[count] == 'v') {
			args[count] = tenon_arg_pointer(&own[count].as.object);
			args[count].type = TENON_TYPE_RVALUE_REF;
		}
	}
	failing_malloc_start(n);
	*failed = ffi.call(f, args, count, &ret) != 0;
	requests = failing_malloc_stop();
	ffi.take_error((void **)&error);
	if (*failed != (error != NULL) || (error && (!error->kind.size || !error->message.size)))
		fail_msg("%s, allocation %ld: %s", row->function, n,
			 !*failed ? "an error without a failure"
			 : !error ? "a failure without an error"
				  : "an error without a text");
	if (!error)
		check_text(row, &ret, n);
	if (error)
		ffi.unref(error);
	else
		dropin_release(&ret);
	while (count)
		dropin_release(&own[--count]);
	return requests;
}

/* Whether memory is lost with each call, and not only kept from the first on */
static inline bool loses_memory(const struct row *row, void *f, long n)
{
	bool failed;
	long live;
	int i;

	for (i = 0; i < 4; i++) {
		live = failing_malloc_live();
		call_row(row, f, n, &failed);
		if (failing_malloc_live() <= live)
			return false;
	}
	print_error("%s, allocation %ld: leaks\n", row->function, n);
	return true;
}

/* Call each row with each allocation failing, in a case of cmocka. */
static inline void rows_lose_nothing(const struct row *rows, size_t count)
{
	long requests, n, wrong = 0;
	bool fails, failed;
	size_t i;
	void *f;

	if (!failing_malloc_works())
		skip();
	for (i = 0; i < count; i++) {
		f = find_function(rows[i].function);
		requests = call_row(&rows[i], f, 0, &fails);
		for (n = 1; n <= requests; n += failing_malloc_step())
			wrong += loses_memory(&rows[i], f, n);
		call_row(&rows[i], f, 0, &failed);
		if (failed != fails)
			fail_msg("%s: returns something else afterwards", rows[i].function);
	}
	assert_int_equal(wrong, 0);
}

static inline int rows_ready(void **state)
{
	if (dropin_open(state))
		return -1;
	make_array = dropin_find("ffi.Array");
	make_rnn = dropin_find("vm.builtin.rnn_state_create");
	add_sequence = dropin_find("vm.builtin.kv_state_add_sequence");
	make_list = dropin_find("ffi.List");
	make_dict = dropin_find("ffi.Dict");
	make_map = dropin_find("ffi.Map");
	make_shape = dropin_find("ffi.Shape");
	make_tensor = dropin_find("runtime.TVMTensorAllocWithScope");
	parse = dropin_find("ffi.json.Parse");
	load = dropin_find("ffi.FromJSONGraphString");
	save = dropin_find("runtime.SaveParams");
	iterate = dropin_find("ffi.MapForwardIterFunctor");
	return 0;
}

#endif /* TESTS_NOMEM_DROPIN_ROWS_H */
