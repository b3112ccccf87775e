/* SPDX-License-Identifier: MIT */
/*
 * Each function of the drop-in libraries, global or of a type, called with what it does not expect: 0 to 6 arguments of each kind. A
 * process that survives it, an error with a message, and no reference to an argument that is left behind.
 */
#include "tests/unit/dropin.h"
#include "tests/unit/too_much_memory.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 6

/* ---- values of each kind; the objects are new each time, because functions change them */

enum kind {
	NONE,
	BOOL,
	ZERO,
	MINUS_ONE,
	LARGE,
	LEAST,
	INT_32,
	NOT_A_NUMBER,
	DTYPE,
	NO_DTYPE,
	DEVICE,
	NO_DEVICE,
	NULL_POINTER,
	BORROWED_TENSOR,
	SHORT_TEXT,
	RAW_TEXT,
	RAW_BYTES,
	TEXT,
	BYTES,
	EMPTY_ARRAY,
	ARRAY,
	LIST,
	MAP,
	DICT,
	SHAPE,
	TENSOR,
	FUNCTION,
	OBJECT,
	TYPE_INDEX,
	MOVED,
	MADE_OF_JSON, /* from here on, one for each of the graphs below */
	KINDS = MADE_OF_JSON + 9,
};

/*
 * Objects as a file may have them, with fields of other types than the library's functions make: those that are taken for
 * others have numbers where the others have a type and an address. The first nodes are None, an integer, and the object.
 */
#define GRAPH(node, others)                                                                        \
	"{\"root_index\": 2, \"nodes\": [{\"type\": \"None\"}, {\"type\": \"int\", \"data\": "     \
	"65}, " node others "]}"
#define NODE(type, data) "{\"type\": \"ffi." type "\", \"data\": " data "}"
#define PATH(parent, step, depth)                                                                  \
	NODE("reflection.AccessPath",                                                              \
	     "{\"parent\": " parent ", \"step\": " step ", \"depth\": " depth "}")
#define STEP(kind, key) NODE("reflection.AccessStep", "{\"kind\": " kind ", \"key\": " key "}")
#define KEY		NODE("StructuralKey", "{\"key\": 1, \"hash_i64\": 4096}")
static const char *const graphs[] = {
	GRAPH(PATH("0", "0", "0"), ""),
	GRAPH(PATH("3", "4", "1"), ", " PATH("0", "0", "0") ", " STEP("1", "1")),
	GRAPH(PATH("3", "4", "1"), ", " PATH("0", "0", "0") ", " KEY),
	GRAPH(PATH("3", "3", "2147483647"), ", " KEY),
	GRAPH(STEP("1", "0"), ""),
	GRAPH(STEP("-7", "1"), ""),
	GRAPH(NODE("VisitErrorContext",
		   "{\"reverse_visit_pattern\": 3, \"prev_error_context\": 3}"),
	      ", " NODE("Shape", "[71, 4096, 71, 4096]")),
	GRAPH(KEY, ""),
	GRAPH(NODE("VisitInterrupt", "{\"value\": 1}"), ""),
};

static const struct tenon_slice damaged = { "{\"root_index\": 0, \"nodes\": [{}]}\0\377", 33 };

/* a tensor of the caller's, which lives as long as a call: it cannot be kept */
static DLTensor borrowed;

static int nothing(void *self, const struct tenon_value *args, int32_t count,
		   struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	*ret = tenon_arg_none();
	return 0;
}

/* functions that make values */
static void *make_array, *make_list, *make_map, *make_dict, *make_shape, *make_tensor, *make_object,
	*make_of_json;

static struct tenon_value make_value(enum kind kind)
{
	struct tenon_value pair[4] = { tenon_arg_string("key"), tenon_arg_int(1), tenon_arg_int(2),
				       tenon_arg_float(0.5) };
	struct tenon_value v, own, shape;
	void *f;

	switch (kind) {
	case BOOL:
		return tenon_arg_bool(true);
	case ZERO:
		return tenon_arg_int(0);
	case MINUS_ONE:
		return tenon_arg_int(-1);
	case LARGE:
		return tenon_arg_int(INT64_MAX);
	case LEAST:
		return tenon_arg_int(INT64_MIN);
	case INT_32:
		return tenon_arg_int(INT32_MAX);
	case TYPE_INDEX:
		return tenon_arg_int(TENON_TYPE_ARRAY);
	case NOT_A_NUMBER:
		return tenon_arg_float((double)NAN);
	case DTYPE:
		v = tenon_arg_none();
		v.type = TENON_TYPE_DTYPE;
		v.as.dtype = tenon_dtype(TENON_DTYPE_FLOAT, 32, 1);
		return v;
	case NO_DTYPE:
		v = tenon_arg_none();
		v.type = TENON_TYPE_DTYPE;
		v.as.dtype = (DLDataType){ 99, 0, 0 };
		return v;
	case DEVICE:
	case NO_DEVICE:
		v = tenon_arg_none();
		v.type = TENON_TYPE_DEVICE;
		v.as.device = (DLDevice){ kind == DEVICE ? kDLCPU : (DLDeviceType)-1, 0 };
		return v;
	case NULL_POINTER:
		return tenon_arg_pointer(NULL);
	case BORROWED_TENSOR:
		return tenon_arg_tensor(&borrowed);
	case SHORT_TEXT:
	case TEXT:
	case BYTES:
		v = tenon_arg_string(kind == TEXT ? "a text of many letters" : "a");
		if (kind == BYTES)
			v = tenon_arg_bytes(&damaged);
		assert_int_equal(ffi.own(&v, &own), 0);
		return own;
	case RAW_TEXT:
		return tenon_arg_string("x");
	case RAW_BYTES:
		return tenon_arg_bytes(&damaged);
	case EMPTY_ARRAY:
		return dropin_made(make_array, NULL, 0);
	case ARRAY:
		return dropin_made(make_array, pair, 4);
	case LIST:
		return dropin_made(make_list, pair, 4);
	case MAP:
		return dropin_made(make_map, pair, 4);
	case DICT:
		return dropin_made(make_dict, pair, 4);
	case SHAPE:
		return dropin_made(make_shape, pair + 1, 2);
	case TENSOR:
		shape = make_value(SHAPE);
		pair[0] = shape;
		pair[1] = make_value(DTYPE);
		pair[2] = make_value(DEVICE);
		v = dropin_made(make_tensor, pair, 3);
		dropin_release(&shape);
		return v;
	case FUNCTION:
		assert_int_equal(ffi.create(NULL, nothing, NULL, &f), 0);
		v = tenon_arg_none();
		v.type = TENON_TYPE_FUNCTION;
		v.as.object = f;
		return v;
	case OBJECT:
		return dropin_made(make_object, NULL, 0);
	default:
		if (kind < MADE_OF_JSON)
			return tenon_arg_none();
		pair[0] = tenon_arg_string(graphs[kind - MADE_OF_JSON]);
		return dropin_made(make_of_json, pair, 1);
	}
}

/* ---- calls */

static unsigned int references(const struct tenon_value *v)
{
	return v->type >= TENON_TYPE_OBJECT && v->as.object ? strong_count(v->as.object) : 0;
}

/* the stage of a function that takes another number of arguments, and looks at none of them */
#define WRONG_COUNT (-1)

static const char *find_word(const struct dropin_error *e, const char *word)
{
	return memmem(e->message.data, e->message.size, word, strlen(word));
}

/* "takes 2 arguments, 3 given", "expected 2 arguments, found 3" */
static bool is_about_count(const struct dropin_error *e)
{
	return find_word(e, "argument") && (find_word(e, " given") || find_word(e, ", found "));
}

/* How far a function came with its arguments: the number of the one that its error names, or more than each of them */
static int stage_of(const struct dropin_error *e)
{
	static const char word[] = "rgument ";
	const char *at;

	if (!e)
		return INT_MAX;
	at = find_word(e, word);
	if (!at)
		return is_about_count(e) ? WRONG_COUNT : INT_MAX - 1;
	at += sizeof(word) - 1;
	return atoi(at + (*at == '#'));
}

static int wrong_calls;

/* Call a function once. Return: how far it came */
static int call_once(void *f, const enum kind *kinds, int32_t count)
{
	struct tenon_value own[MOST + 1], args[MOST + 1], ret = tenon_arg_none();
	unsigned int before[MOST + 1];
	struct dropin_error *error = NULL;
	const char *wrong = NULL;
	int err, stage;
	int32_t i;

	for (i = 0; i < count; i++) {
		own[i] = make_value(kinds[i] == MOVED ? LIST : kinds[i]);
		args[i] = own[i];
		if (kinds[i] == MOVED) {
			args[i] = tenon_arg_pointer(&own[i].as.object);
			args[i].type = TENON_TYPE_RVALUE_REF;
		}
	}
	/* one object may be several of the arguments */
	for (i = 0; i < count; i++)
		before[i] = references(&own[i]);
	err = ffi.call(f, args, count, &ret);
	ffi.take_error((void **)&error);
	if (err && !error)
		wrong = "a failure without an error";
	else if (!err && error)
		wrong = "an error without a failure";
	else if (error && (!error->kind.size || !error->message.size))
		wrong = "an error without a text";
	stage = stage_of(error);
	if (error)
		ffi.unref(error);
	if (!err)
		dropin_release(&ret);
	for (i = 0; i < count; i++)
		if (err && kinds[i] != MOVED && references(&own[i]) != before[i])
			wrong = "a reference too many or too few";
	for (i = 0; i < count; i++)
		dropin_release(&own[i]);
	if (!wrong)
		return stage;
	fprintf(stderr, "%s, with arguments of the kinds", wrong);
	for (i = 0; i < count; i++)
		fprintf(stderr, " %d", (int)kinds[i]);
	fprintf(stderr, "\n");
	wrong_calls++;
	return stage;
}

static uint32_t chance(uint32_t most)
{
	static uint32_t state = 1;

	state = state * 1664525 + 1013904223;
	return (state >> 16) % most;
}

/* Find arguments that a function takes, one after the other: of the kinds with which it comes furthest, one by chance. */
static void call_closer(void *f, int32_t count)
{
	enum kind kinds[MOST] = { NONE }, best;
	int stage, furthest, as_far = 0, k;
	int32_t i;

	if (call_once(f, kinds, count) == WRONG_COUNT)
		return;
	for (i = 0; i < count; i++) {
		best = NONE;
		furthest = WRONG_COUNT;
		for (k = 0; k < KINDS; k++) {
			kinds[i] = (enum kind)k;
			stage = call_once(f, kinds, count);
			if (stage < furthest)
				continue;
			as_far = stage == furthest ? as_far + 1 : 1;
			furthest = stage;
			if (!chance((uint32_t)as_far))
				best = kinds[i];
		}
		kinds[i] = best;
	}
}

#define ROUNDS 2

/*
 * All calls with at most two arguments, and some with more. Where a function refuses the first of two, it does so whatever the
 * second is: that is tried once. So is a number of arguments that it refuses.
 */
static void call_all(void *f)
{
	enum kind kinds[2] = { NONE };
	int i, n;

	call_once(f, kinds, 0);
	for (i = 0; i < KINDS; i++) {
		kinds[0] = (enum kind)i;
		call_once(f, kinds, 1);
		for (n = 0; n < KINDS; n++) {
			kinds[1] = (enum kind)n;
			if (call_once(f, kinds, 2) <= 0)
				break;
		}
	}
	for (i = 0; i < ROUNDS; i++)
		for (n = 1; n <= MOST; n++)
			call_closer(f, n);
}

/* In a child, because some functions change the process, and the next should be called after a crash. */
static bool survives(const char *what, struct tenon_slice name, void *f)
{
	pid_t child;
	int status;

	fflush(stderr);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		dup2(open("/dev/null", O_RDWR), 0);
		dup2(0, 1);
		signal(SIGSEGV, SIG_DFL); /* cmocka's handler would go on with the next case */
		signal(SIGFPE, SIG_DFL);
		alarm(120);
		call_all(f);
		_exit(wrong_calls != 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (!status)
		return true;
	print_error("%s%.*s: ", what, (int)name.size, name.data);
	if (WIFSIGNALED(status))
		print_error("signal %d\n", WTERMSIG(status));
	else
		print_error("exit status %d\n", WEXITSTATUS(status));
	return false;
}

static void global_functions_refuse_wrong_arguments(void **state)
{
	struct tenon_value names, n = tenon_arg_int(-1), name;
	struct tenon_slice text;
	int64_t count, i;
	int wrong = 0;
	void *f;

	(void)state;
	names = dropin_made(dropin_find("ffi.FunctionListGlobalNamesFunctor"), NULL, 0);
	count = dropin_made(names.as.object, &n, 1).as.integer;
	assert_true(count > 100);
	for (i = 0; i < count; i++) {
		n = tenon_arg_int(i);
		name = dropin_made(names.as.object, &n, 1);
		assert_int_equal(tenon_value_text(&name, &text), 0);
		assert_int_equal(ffi.global(&text, &f), 0);
		wrong += !survives("", text, f);
		ffi.unref(f);
		dropin_release(&name);
	}
	dropin_release(&names);
	assert_int_equal(wrong, 0);
}

/* All types that are registered, by their keys; one with a number that is not in use has an empty key. */
#define TYPES 256

static void methods_refuse_wrong_arguments(void **state)
{
	const struct type_info *t;
	int32_t type, i, called = 0;
	int wrong = 0;

	(void)state;
	for (type = 0; type < TYPES; type++) {
		t = ffi.type_info(type);
		for (i = 0; t->index == type && i < t->method_count; i++) {
			if (t->methods[i].method.type != TENON_TYPE_FUNCTION)
				continue;
			wrong += !survives(t->key.data, t->methods[i].name,
					   t->methods[i].method.as.object);
			called++;
		}
	}
	assert_true(called > 10);
	assert_int_equal(wrong, 0);
}

static void attributes_of_types_refuse_wrong_arguments(void **state)
{
	static const char *const names[] = { "__ffi_init__", "__ffi_new__", "__ffi_shallow_copy__",
					     "__ffi_convert__", "__ffi_repr__" };
	const struct ffi_column *c;
	struct tenon_slice name;
	int wrong = 0, called = 0;
	int32_t i;
	size_t k;

	(void)state;
	for (k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		name = tenon_slice_of(names[k]);
		c = ffi.column(&name);
		assert_non_null(c);
		for (i = 0; i < c->size; i++) {
			if (c->data[i].type != TENON_TYPE_FUNCTION)
				continue;
			wrong += !survives(names[k], ffi.type_info(c->begin + i)->key,
					   c->data[i].as.object);
			called++;
		}
	}
	assert_true(called > 10);
	assert_int_equal(wrong, 0);
}

static int make_ready(void **state)
{
	if (dropin_open(state))
		return -1;
	make_array = dropin_find("ffi.Array");
	make_list = dropin_find("ffi.List");
	make_map = dropin_find("ffi.Map");
	make_dict = dropin_find("ffi.Dict");
	make_shape = dropin_find("ffi.Shape");
	make_tensor = dropin_find("runtime.TVMTensorAllocWithScope");
	make_object = dropin_find("ffi.GetInvalidObject");
	make_of_json = dropin_find("ffi.FromJSONGraphString");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(global_functions_refuse_wrong_arguments),
		cmocka_unit_test(methods_refuse_wrong_arguments),
		cmocka_unit_test(attributes_of_types_refuse_wrong_arguments),
	};

	return cmocka_run_group_tests(tests, make_ready, NULL);
}
