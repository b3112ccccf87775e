/* SPDX-License-Identifier: MIT */
/* The virtual machine: its instructions, frames and calls. */
#ifndef RUNTIME_RELAX_RELAX_H
#define RUNTIME_RELAX_RELAX_H

/*
 * An executable is immutable and shared; a virtual machine ("machine" below) runs it. Initialising
 * a machine looks up every function once and decodes the instructions to a flat array: operands are
 * indices of registers or of one array of constants, functions are addresses. Frames are on the
 * machine's own stack, with space for the arguments of calls, so a call only copies its arguments
 * and allocates nothing.
 *
 * One thread at a time may use a machine. A packed function that it calls may call it again.
 */

#include "lib/thread_variable.h"
#include "runtime/library/any_list.h"
#include "runtime/relax/relax_executable.h"
#include "runtime/relax/relax_pool.h"

enum relax_op_code {
	RELAX_OP_CALL,		/* call a packed function */
	RELAX_OP_CALL_BYTECODE, /* call a bytecode function of the executable */
	RELAX_OP_CALL_NATIVE,	/* call a native function, which works on an array of registers */
	RELAX_OP_INVOKE,	/* vm.builtin.invoke_closure, not recursive */
	RELAX_OP_TENSOR,	/* vm.builtin.alloc_tensor with constant shape and dtype */
	RELAX_OP_STORAGE,	/* vm.builtin.alloc_storage with constant size */
	RELAX_OP_CLEAR,		/* vm.builtin.null_value; usually releases a tensor */
	RELAX_OP_COPY,		/* vm.builtin.copy */
	RELAX_OP_RET,
	RELAX_OP_GOTO,
	RELAX_OP_IF,
};

#define RELAX_NOWHERE UINT32_MAX

/**
 * struct relax_op - a decoded instruction
 * @code: enum relax_op_code
 * @dst: register of the result, or RELAX_NOWHERE
 * @args: operands: register, or the complement of an index in vm.values
 * @count: how many
 * @target: entry number of the called function; for a jump, distance in ops
 * @function: callee of RELAX_OP_CALL, and fallback of the specialised ops; borrowed from vm.values
 * @plan: for RELAX_OP_TENSOR and RELAX_OP_STORAGE
 */
struct relax_op {
	uint32_t code;
	uint32_t dst;
	const int32_t *args;
	uint32_t count;
	int32_t target;
	struct tenon_function *function;
	const struct relax_plan *plan;
};

/**
 * struct relax_entry - an executable's function, prepared for calls
 * @ops: first op; NULL unless it is bytecode
 * @native: code; NULL unless it is native
 * @room: size of a frame in values: registers, and arguments of the widest call
 */
struct relax_entry {
	const struct relax_op *ops;
	struct tenon_function *native;
	uint32_t room;
};

struct relax_segment;

/** struct relax_frame - a running function */
struct relax_frame {
	const struct relax_op *at; /* the call that the next frame executes */
	struct tenon_value *registers;
	struct relax_segment *segment; /* of the registers, and its fill level before */
	uint32_t mark;
	uint32_t function;
	uint32_t dst; /* result register in the caller's frame */
};

/** struct relax_stack - registers of all running functions, in blocks that never move */
struct relax_stack {
	struct relax_frame *frames;
	size_t depth;
	size_t room;
	struct relax_segment *segment; /* top segment */
	uint64_t values;	       /* number of values in all segments */
};

#define RELAX_DEPTH_MOST  20000
#define RELAX_VALUES_MOST (UINT64_C(4) << 20)

struct relax_device;
struct relax_state;
struct relax_cached_value;
struct relax_recorded;

/**
 * struct relax_call_hook - callback that receives the time of each call
 * @called: called after each packed function that an op called; times as in struct tenon_profiler
 */
struct relax_call_hook {
	void (*called)(void *context, const struct relax_op *op, uint64_t begin, uint64_t end);
	void *context;
};

/**
 * struct relax_vm - a virtual machine as a module
 * @module: kind relax.VirtualMachine
 * @x: executable; referenced
 * @pool: memory pool for the host
 * @devices: devices, the host last; NULL before relax_init()
 * @device_count: how many
 * @elsewhere: one of them is not the host
 * @entries: one for each function of @x; NULL before relax_init()
 * @ops: instructions of all functions
 * @op_count: how many
 * @operands: operands of all ops; relax_op.args points here
 * @plans: planned allocations; relax_op.plan points here
 * @plan_count: how many
 * @extents: shapes of these; relax_plan.extents points here
 * @values: constants and functions of @x, immediates, None, and the machine itself
 * @value_count: how many
 * @stack: registers
 * @budget: limit on backward jumps and bytecode calls; for tests and watchdogs
 * @call_hook: set while a profile is taken
 * @instrument: function that is called before and after each call of an instruction; referenced, or
 *	NULL
 * @owner: thread that uses the machine
 * @nesting: recursion depth of that thread
 * @frames_reported: frames that the current error names
 * @scratch: see any_list.h; NULL until code of TVM 0.20 and older passes arguments
 * @state: state of set_input(), save_function() etc.
 * @cached: see relax_cached.h
 * @cached_count: how many
 * @recorded: see relax_recorded.h
 */
struct relax_vm {
	struct tenon_module module;
	struct relax_executable *x;
	struct relax_pool *pool;
	struct relax_device *devices;
	uint32_t device_count;
	bool elsewhere;
	struct relax_entry *entries;
	struct relax_op *ops;
	uint32_t op_count;
	int32_t *operands;
	struct relax_plan *plans;
	uint32_t plan_count;
	int64_t *extents;
	struct tenon_value *values;
	uint32_t value_count;
	struct relax_stack stack;
	uint64_t budget;
	const struct relax_call_hook *call_hook;
	struct tenon_function *instrument;
	uintptr_t owner;
	uint32_t nesting;
	uint32_t frames_reported;
	struct legacy_scratch *scratch;
	struct relax_state *state;
	struct relax_cached_value *cached;
	uint32_t cached_count;
	struct relax_recorded *recorded;
};

/* relax_list.c: map an address from native code to a list; any_list_find_fn */
int relax_list_find(const void *list, int index, bool write, struct any_list_place *out);

/** relax_create - create a machine for an executable, not yet initialised; -TENON_E_NOMEM */
int relax_create(struct relax_executable *x, struct tenon_module **out);

/* Get the machine of a module; NULL for other kinds. */
struct relax_vm *relax_of(struct tenon_module *m);

/**
 * relax_init - look up all functions and decode the instructions
 *
 * Without an earlier relax_set_devices() the machine runs on the host only. Later calls do nothing.
 *
 * Return: 0; -TENON_E_NO_FUNCTION naming every missing function and its caller; -TENON_E_NOMEM; the
 * error of a device when constants cannot be copied to it.
 */
int relax_init(struct relax_vm *vm);
void relax_unlink(struct relax_vm *vm);

/**
 * relax_enter - make the calling thread the user of the machine
 * @vm: the machine
 * @outer: receives the argument for relax_leave()
 *
 * Return: 0; -TENON_E_USAGE while another thread uses it, or when it is not initialised.
 */
int relax_enter(struct relax_vm *vm, struct relax_vm **outer);
void relax_leave(struct relax_vm *vm, struct relax_vm *outer);

/* The machine that the calling thread runs; NULL for none. Every object destruction reads it. */
extern __thread struct relax_vm *relax_now THREAD_VARIABLE_AT_ONCE;

static inline struct relax_vm *relax_current(void)
{
	return relax_now;
}

/* Host pool of the machine that the thread runs; NULL outside a run. */
static inline struct relax_pool *relax_current_pool(void)
{
	return relax_now ? relax_now->pool : NULL;
}

/**
 * relax_call - call a function of the executable, bytecode or native
 * @vm: an initialised machine
 * @function: its entry number
 * @args: @count views; a borrowed DLTensor is copied
 * @ret: receives an owned value
 *
 * Return: 0; -TENON_E_TYPE for the wrong number of arguments; -TENON_E_OVERFLOW when the thread's
 * stack is nearly exhausted; the error of a called function.
 */
int relax_call(struct relax_vm *vm, uint32_t function, const struct tenon_value *args,
	       uint32_t count, struct tenon_value *ret);

/* relax_call() of a closure; other function objects are called directly. */
int relax_invoke(struct relax_vm *vm, const struct tenon_value *callee,
		 const struct tenon_value *args, uint32_t count, struct tenon_value *ret);

/* Make an owned copy of an argument for a register; a borrowed DLTensor is copied. */
int relax_own_argument(struct relax_vm *vm, const struct tenon_value *arg, struct tenon_value *out);

/* relax_plan.c: prepare allocations whose arguments are constants */
int relax_plan_alloc(struct relax_vm *vm);
void relax_plan_free(struct relax_vm *vm);
/* Plan @op, a call with the words @words. False if its arguments are not constant or not valid. */
bool relax_plan_op(struct relax_vm *vm, struct relax_op *op, const int64_t *words);

/* relax_stack.c */
int relax_push(struct relax_vm *vm, uint32_t function);
void relax_pop(struct relax_vm *vm);
void relax_stack_fini(struct relax_stack *s);

/* relax_run.c: run the top frame to its end. The frame is popped, also on failure. */
int relax_run(struct relax_vm *vm, struct tenon_value *ret);

#endif /* RUNTIME_RELAX_RELAX_H */
