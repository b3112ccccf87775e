/* SPDX-License-Identifier: MIT */
/* Checked bytecode that machines share. */
#ifndef RUNTIME_RELAX_RELAX_EXECUTABLE_H
#define RUNTIME_RELAX_RELAX_EXECUTABLE_H

/*
 * The bytes of kinds relax.VMExecutable and relax.Executable (format versions 1 and 2): a table of
 * functions, a pool of constants, instructions. All of it is checked when it is loaded, so that
 * running code needs no range checks. An executable is immutable: any number of machines and
 * closures share one.
 */

#include <tenon/backend/module_kind.h>

#include "lib/string_map.h"

#define RELAX_MAGIC_1 UINT64_C(0xD225DE2F4214151D)
#define RELAX_MAGIC_2 UINT64_C(0xD225DE2F4214151E) /* adds the memory scopes of constants */
#define RELAX_VERSION "0.14"

/* limit on the registers of a function; each call takes this much of the machine's stack */
#define RELAX_REGISTERS_MOST (1u << 20)

enum relax_opcode {
	RELAX_CALL = 1,
	RELAX_RET = 2,
	RELAX_GOTO = 3,
	RELAX_IF = 4,
};

/* special registers, which hold no value of the frame */
#define RELAX_REGISTER_VOID    (INT64_C(1) << 54)
#define RELAX_REGISTER_MACHINE (RELAX_REGISTER_VOID + 1)

/** enum relax_operand_kind - the top byte of an argument word */
enum relax_operand_kind {
	RELAX_OPERAND_REGISTER = 0,
	RELAX_OPERAND_IMMEDIATE = 1,
	RELAX_OPERAND_CONSTANT = 2,
	RELAX_OPERAND_FUNCTION = 3,
};

enum relax_function_kind {
	RELAX_FUNCTION_PACKED = 0,   /* looked up by name in imports and the registry */
	RELAX_FUNCTION_BYTECODE = 1, /* instructions */
	RELAX_FUNCTION_NATIVE =
		2, /* compiled to `__vmtir__<name>`; works on an array of registers */
};

/**
 * struct relax_function - an entry of the function table
 * @name: its name, a slice of the executable's bytes
 * @kind: enum relax_function_kind
 * @first: index of the first instruction
 * @end: one past the index of the last one
 * @args: number of parameters; 0 for packed functions, which do not state it
 * @registers: number of registers, those of the parameters included
 * @params: @param_count names of parameters, or none
 * @param_count: @args or 0
 */
struct relax_function {
	struct tenon_slice name;
	enum relax_function_kind kind;
	uint32_t first;
	uint32_t end;
	uint32_t args;
	uint32_t registers;
	struct tenon_slice *params;
	uint32_t param_count;
};

/**
 * struct relax_executable - a Relax executable as a module
 * @module: the module
 * @bytes: payload as it was loaded, for saving
 * @keep: keeps @bytes
 * @functions: the function table
 * @function_count: how many
 * @names: names to entry number plus one
 * @constants: the pool; tensors are in CPU memory
 * @constant_count: how many
 * @constant_bytes: bytes of the tensors among them
 * @offsets: index in @words of each instruction
 * @instruction_count: how many
 * @words: the instructions
 * @word_count: how many words
 * @legacy: of TVM 0.20 or older: its native functions use the value layout of that time
 */
struct relax_executable {
	struct tenon_module module;
	struct tenon_slice bytes;
	struct tenon_object *keep;
	struct relax_function *functions;
	uint32_t function_count;
	struct string_map names;
	struct tenon_value *constants;
	uint32_t constant_count;
	uint64_t constant_bytes;
	uint32_t *offsets;
	uint32_t instruction_count;
	int64_t *words;
	uint32_t word_count;
	bool legacy;
};

/* Split an argument word. */
static inline enum relax_operand_kind relax_operand_kind(int64_t word)
{
	return (enum relax_operand_kind)((uint64_t)word >> 56);
}

static inline int64_t relax_operand_value(int64_t word)
{
	return (int64_t)((uint64_t)word << 8) >> 8;
}

/**
 * relax_executable_load - read and check an executable
 * @c: cursor over the payload
 * @payload: location of the payload
 * @out: receives a module of kind relax.VMExecutable or relax.Executable
 *
 * Return: 0; -TENON_E_TRUNCATED, -TENON_E_FORMAT, -TENON_E_OVERFLOW, -TENON_E_VALUE with the place
 *	in the file, or function, instruction and operand; -TENON_E_UNSUPPORTED naming an
 *	unsupported builtin of language models; -TENON_E_NOMEM.
 */
int relax_executable_load(struct tenon_cursor *c, const struct tenon_payload *payload,
			  struct tenon_module **out);

/* Get the executable of a module; NULL for other kinds. */
struct relax_executable *relax_executable_of(struct tenon_module *m);

/* Entry number of a function; -1 if there is none. */
int64_t relax_executable_find(const struct relax_executable *x, struct tenon_slice name);

/* Steps of loading. Each moves the cursor past the part that it read. */
int relax_read_functions(struct relax_executable *x, struct tenon_cursor *c);
int relax_read_constants(struct relax_executable *x, struct tenon_cursor *c,
			 struct tenon_object *keep);
int relax_read_instructions(struct relax_executable *x, struct tenon_cursor *c);

/* Check the parsed executable; errors name function, instruction and operand. */
int relax_verify(const struct relax_executable *x);

/* Print instructions, and statistics, in the format of TVM's as_text, as_python and stats. */
int relax_print_text(const struct relax_executable *x, struct tenon_buffer *out);
int relax_print_python(const struct relax_executable *x, struct tenon_buffer *out);
int relax_print_stats(const struct relax_executable *x, struct tenon_buffer *out);

#endif /* RUNTIME_RELAX_RELAX_EXECUTABLE_H */
