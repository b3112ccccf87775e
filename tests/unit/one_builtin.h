/* SPDX-License-Identifier: MIT */
/*
 * Run one builtin in a machine made for it:
 *
 *	struct one o = begin("vm.builtin.shape_of");
 *
 *	CALL(&o, 1, REG(0));
 *	ret = given(end(&o), tenon_arg_object(tensor));
 */
#ifndef TESTS_UNIT_ONE_BUILTIN_H
#define TESTS_UNIT_ONE_BUILTIN_H

#include "tests/unit/relax_assembler.h"

static const DLDataType f32 = { TENON_DTYPE_FLOAT, 32, 1 };

/* A machine with one function, which takes one argument and gives what one builtin makes of operands. */
struct one {
	struct assembly a;
	uint32_t f;
};

static inline struct one begin(const char *builtin)
{
	struct one o = { .a = ASSEMBLY_INIT };

	o.f = assemble_packed(&o.a, builtin);
	assemble_function(&o.a, "main", 1, 4);
	return o;
}

static inline struct relax_vm *end(struct one *o)
{
	assemble_ret(&o->a, 1);
	return machine_of(&o->a);
}

#define CALL(o, dst, ...) ASSEMBLE_CALL(&(o)->a, dst, (o)->f, ##__VA_ARGS__)

/* What a machine gives for an argument; the machine is dropped. */
static inline struct tenon_value given(struct relax_vm *vm, struct tenon_value argument)
{
	struct tenon_value ret;

	if (RUN(vm, &ret, argument))
		fail_msg("%s", tenon_error_message());
	tenon_object_unref(vm);
	return ret;
}

/* It refuses the argument with these words; the machine is dropped. */
static inline void refused(struct relax_vm *vm, struct tenon_value argument, int status,
			   const char *words)
{
	struct tenon_value ret;

	assert_int_equal(RUN(vm, &ret, argument), status);
	assert_error_has(words);
	tenon_object_unref(vm);
}

/* A size_t holds it, memory does not. */
#define TOO_MANY_BYTES ((int64_t)1 << (sizeof(size_t) == 8 ? 57 : 30) | 8)

static inline struct tenon_tensor *vector(int64_t n, DLDataType dtype, const void *data,
					  size_t bytes)
{
	struct tenon_tensor *t;

	assert_int_equal(tenon_tensor_create(&n, 1, dtype, &t), 0);
	if (bytes)
		memcpy(t->dl.data, data, bytes);
	return t;
}

static inline struct tenon_shape *shape_of(const int64_t *extents, size_t count)
{
	struct tenon_shape *s;

	assert_int_equal(tenon_shape_create(extents, count, &s), 0);
	return s;
}

#endif /* TESTS_UNIT_ONE_BUILTIN_H */
