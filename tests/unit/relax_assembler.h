/* SPDX-License-Identifier: MIT */
/*
 * Assemble Relax executables by hand, valid ones and others that no compiler writes:
 *
 *	struct assembly a = ASSEMBLY_INIT;
 *	uint32_t add = assemble_packed(&a, "test.add");
 *	assemble_function(&a, "main", 2, 3);
 *	ASSEMBLE_CALL(&a, 2, add, REG(0), REG(1));
 *	assemble_ret(&a, 2);
 *	machine = machine_of(&a);
 */
#ifndef TESTS_UNIT_RELAX_ASSEMBLER_H
#define TESTS_UNIT_RELAX_ASSEMBLER_H

#include "runtime/relax/relax.h"

#include <tenon/backend/buffer.h>

#include "tests/unit/suite.h"

#define ASSEMBLY_MOST 64

#define WORD(kind, value) ((int64_t)((uint64_t)(kind) << 56 | ((uint64_t)(value)&0xffffffffffffff)))
#define REG(n)		  WORD(0, n)
#define IMM(n)		  WORD(1, n)
#define CONST(n)	  WORD(2, n)
#define FUNC(n)		  WORD(3, n)
#define VOID_REG	  RELAX_REGISTER_VOID
#define MACHINE_REG	  RELAX_REGISTER_MACHINE

struct assembled_function {
	const char *name;
	int32_t kind;
	int64_t first, end, args, registers;
	const char *params[8];
	uint64_t param_count;
};

struct assembly {
	struct assembled_function functions[ASSEMBLY_MOST];
	uint64_t function_count;
	uint32_t open; /* function that instructions go to, plus one */
	struct tenon_buffer constants, offsets, words, scopes;
	uint64_t constant_count, instruction_count, scope_count;
	int version; /* 0 and 1: the first, 2: the second */
	bool legacy;
};

#define ASSEMBLY_INIT                                                                              \
	{                                                                                          \
		.version = 2                                                                       \
	}

static inline uint32_t assemble_entry(struct assembly *a, const char *name, int32_t kind,
				      int64_t args, int64_t registers)
{
	struct assembled_function *f = &a->functions[a->function_count];

	f->name = name;
	f->kind = kind;
	f->args = args;
	f->registers = registers;
	return (uint32_t)a->function_count++;
}

/* A function to be looked up. */
static inline uint32_t assemble_packed(struct assembly *a, const char *name)
{
	return assemble_entry(a, name, RELAX_FUNCTION_PACKED, -2, 0);
}

/* A function whose instructions follow; ends where the next one begins. */
static inline uint32_t assemble_function(struct assembly *a, const char *name, int64_t args,
					 int64_t registers)
{
	uint32_t index = assemble_entry(a, name, RELAX_FUNCTION_BYTECODE, args, registers);

	a->functions[index].first = (int64_t)a->instruction_count;
	a->functions[index].end = (int64_t)a->instruction_count;
	a->open = index + 1;
	return index;
}

static inline void assemble_words(struct assembly *a, const int64_t *words, size_t count)
{
	size_t i;

	tenon_buffer_u64(&a->offsets, a->words.size / 8);
	for (i = 0; i < count; i++)
		tenon_buffer_u64(&a->words, (uint64_t)words[i]);
	a->instruction_count++;
	if (a->open)
		a->functions[a->open - 1].end = (int64_t)a->instruction_count;
}

static inline void assemble_call(struct assembly *a, int64_t dst, int64_t function,
				 const int64_t *args, size_t count)
{
	int64_t words[4 + ASSEMBLY_MOST] = { RELAX_CALL, dst, function, (int64_t)count };

	memcpy(words + 4, args, count * sizeof(*args));
	assemble_words(a, words, 4 + count);
}

#define ASSEMBLE_CALL(a, dst, function, ...)                                                       \
	assemble_call((a), (dst), (function), (const int64_t[]){ 0, ##__VA_ARGS__ } + 1,           \
		      sizeof((const int64_t[]){ 0, ##__VA_ARGS__ }) / sizeof(int64_t) - 1)

static inline void assemble_ret(struct assembly *a, int64_t r)
{
	assemble_words(a, (const int64_t[]){ RELAX_RET, r }, 2);
}

static inline void assemble_goto(struct assembly *a, int64_t offset)
{
	assemble_words(a, (const int64_t[]){ RELAX_GOTO, offset }, 2);
}

static inline void assemble_if(struct assembly *a, int64_t r, int64_t offset)
{
	assemble_words(a, (const int64_t[]){ RELAX_IF, r, offset }, 3);
}

static inline uint32_t assemble_tag(struct assembly *a, uint32_t modern, uint32_t legacy)
{
	tenon_buffer_u32(&a->constants, a->legacy ? legacy : modern);
	return (uint32_t)a->constant_count++;
}

static inline uint32_t constant_int(struct assembly *a, int64_t v)
{
	uint32_t index = assemble_tag(a, TENON_TYPE_INT, 4);

	tenon_buffer_u64(&a->constants, (uint64_t)v);
	return index;
}

static inline uint32_t constant_float(struct assembly *a, double v)
{
	uint32_t index = assemble_tag(a, TENON_TYPE_FLOAT, 5);
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	tenon_buffer_u64(&a->constants, bits);
	return index;
}

static inline uint32_t constant_string(struct assembly *a, const char *text)
{
	uint32_t index = assemble_tag(a, TENON_TYPE_STRING, 3);

	tenon_buffer_string(&a->constants, tenon_slice_of(text));
	return index;
}

static inline uint32_t constant_dtype(struct assembly *a, DLDataType d)
{
	uint32_t index = assemble_tag(a, TENON_TYPE_DTYPE, 1);

	tenon_buffer_u8(&a->constants, d.code);
	tenon_buffer_u8(&a->constants, d.bits);
	tenon_buffer_u8(&a->constants, (uint8_t)d.lanes);
	tenon_buffer_u8(&a->constants, (uint8_t)(d.lanes >> 8));
	return index;
}

static inline uint32_t constant_f32(struct assembly *a)
{
	return constant_dtype(a, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
}

static inline uint32_t constant_shape(struct assembly *a, const int64_t *extents, size_t count)
{
	uint32_t index = assemble_tag(a, TENON_TYPE_SHAPE, 2);
	size_t i;

	tenon_buffer_u64(&a->constants, count);
	for (i = 0; i < count; i++)
		tenon_buffer_u64(&a->constants, (uint64_t)extents[i]);
	return index;
}

#define CONSTANT_SHAPE(a, ...)                                                                     \
	constant_shape((a), (const int64_t[]){ 0, ##__VA_ARGS__ } + 1,                             \
		       sizeof((const int64_t[]){ 0, ##__VA_ARGS__ }) / sizeof(int64_t) - 1)

/* A vector of @width bytes an element. */
static inline uint32_t constant_vector(struct assembly *a, DLDataType d, const void *values,
				       size_t count, size_t width)
{
	uint32_t index = assemble_tag(a, TENON_TYPE_TENSOR, 0);

	tenon_buffer_u64(&a->constants, UINT64_C(0xDD5E40F096B4A13F));
	tenon_buffer_u64(&a->constants, 0);
	tenon_buffer_u32(&a->constants, 1);
	tenon_buffer_u32(&a->constants, 0);
	tenon_buffer_u32(&a->constants, 1);
	tenon_buffer_append(&a->constants, &(const uint8_t[]){ d.code, d.bits, 1, 0 }, 4);
	tenon_buffer_u64(&a->constants, count);
	tenon_buffer_u64(&a->constants, count * width);
	tenon_buffer_append(&a->constants, values, count * width);
	return index;
}

/* A vector of float32. */
static inline uint32_t constant_tensor(struct assembly *a, const float *values, size_t count)
{
	return constant_vector(a, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), values, count, 4);
}

/* Say where a constant is wanted; format 2 only. */
static inline void assemble_scope(struct assembly *a, uint64_t index, const char *scope)
{
	tenon_buffer_u64(&a->scopes, index);
	tenon_buffer_string(&a->scopes, tenon_slice_of(scope));
	a->scope_count++;
}

static inline void assemble_functions(const struct assembly *a, struct tenon_buffer *out)
{
	const struct assembled_function *f;
	uint64_t i, k;

	tenon_buffer_u64(out, a->function_count);
	for (i = 0; i < a->function_count; i++) {
		f = &a->functions[i];
		tenon_buffer_u32(out, (uint32_t)f->kind);
		tenon_buffer_string(out, tenon_slice_of(f->name));
		tenon_buffer_u64(out, (uint64_t)f->first);
		tenon_buffer_u64(out, (uint64_t)f->end);
		tenon_buffer_u64(out, (uint64_t)f->args);
		tenon_buffer_u64(out, (uint64_t)f->registers);
		tenon_buffer_u64(out, f->param_count);
		for (k = 0; k < f->param_count; k++)
			tenon_buffer_string(out, tenon_slice_of(f->params[k]));
	}
}

/* The image; @a is empty afterwards. */
static inline void assemble(struct assembly *a, struct tenon_buffer *out)
{
	struct tenon_buffer *part[] = { &a->constants, &a->offsets, &a->words, &a->scopes };
	size_t i;

	tenon_buffer_u64(out, a->version == 2 ? RELAX_MAGIC_2 : RELAX_MAGIC_1);
	tenon_buffer_string(out, tenon_slice_of(RELAX_VERSION));
	assemble_functions(a, out);
	if (a->version == 2) {
		tenon_buffer_u64(out, a->scope_count);
		tenon_buffer_append(out, a->scopes.data, a->scopes.size);
	}
	tenon_buffer_u64(out, a->constant_count);
	tenon_buffer_append(out, a->constants.data, a->constants.size);
	tenon_buffer_u64(out, a->instruction_count);
	tenon_buffer_append(out, a->offsets.data, a->offsets.size);
	tenon_buffer_u64(out, a->words.size / 8);
	tenon_buffer_append(out, a->words.data, a->words.size);
	assert_int_equal(out->status, 0);
	for (i = 0; i < 4; i++)
		tenon_buffer_fini(part[i]);
}

static inline struct tenon_slice image_bytes(const struct tenon_buffer *image)
{
	return (struct tenon_slice){ image->data, image->size };
}

static inline int load_image(struct tenon_slice image, bool legacy, struct tenon_module **out)
{
	return tenon_module_load_bytes(legacy ? "relax.Executable" : "relax.VMExecutable", image,
				       out);
}

/* Load what was assembled. */
static inline int load_assembly(struct assembly *a, struct tenon_module **out)
{
	struct tenon_buffer image = TENON_BUFFER_INIT;
	bool legacy = a->legacy;
	int err;

	assemble(a, &image);
	err = load_image(image_bytes(&image), legacy, out);
	tenon_buffer_fini(&image);
	return err;
}

/* A machine of an executable, not initialised. */
static inline struct relax_vm *machine_of_module(struct tenon_module *x)
{
	struct tenon_module *m;

	assert_int_equal(relax_create(relax_executable_of(x), &m), 0);
	return relax_of(m);
}

/* A machine that is ready to run what was assembled. */
static inline struct relax_vm *machine_of(struct assembly *a)
{
	struct tenon_module *x;
	struct relax_vm *vm;

	if (load_assembly(a, &x))
		fail_msg("%s", tenon_error_message());
	vm = machine_of_module(x);
	tenon_object_unref(x);
	if (relax_init(vm))
		fail_msg("%s", tenon_error_message());
	/* sanitizers do not take a request for all memory for an answer */
	relax_pool_limit(vm->pool, UINT64_C(1) << 30);
	return vm;
}

/* Call a function of a machine. */
static inline int run_machine(struct relax_vm *vm, const char *function,
			      const struct tenon_value *args, uint32_t count,
			      struct tenon_value *ret)
{
	int64_t index = relax_executable_find(vm->x, tenon_slice_of(function));
	struct relax_vm *outer;
	int err;

	assert_true(index >= 0);
	*ret = tenon_arg_none();
	assert_int_equal(relax_enter(vm, &outer), 0);
	err = relax_call(vm, (uint32_t)index, args, count, ret);
	relax_leave(vm, outer);
	assert_int_equal(vm->stack.depth, 0);
	return err;
}

#define RUN(vm, ret, ...)                                                                          \
	run_machine((vm), "main",                                                                  \
		    (const struct tenon_value[]){ { 0, 0, { 0 } }, ##__VA_ARGS__ } + 1,            \
		    sizeof((const struct tenon_value[]){ { 0, 0, { 0 } }, ##__VA_ARGS__ }) /       \
				    sizeof(struct tenon_value) -                                   \
			    1,                                                                     \
		    (ret))

#endif /* TESTS_UNIT_RELAX_ASSEMBLER_H */
