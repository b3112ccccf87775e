/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_RELAX_RELAX_H
#define RUNTIME_RELAX_RELAX_H

/**
 * DOC: the Relax virtual machine
 *
 * An executable is shared and does not change; a machine runs it. When a machine is initialised
 * every function is looked up once and the instructions become a flat array: operands are indices
 * of registers or of one array of constants, functions are addresses. A frame is on the machine's
 * own stack, with space for the arguments of its calls, so a call only copies its arguments and
 * allocates nothing.
 *
 * A machine is used by one thread at a time. It may be entered again from within: a packed function
 * that it calls may call it back.
 */

#include "runtime/library/any_list.h"
#include "runtime/relax/relax_executable.h"
#include "runtime/relax/relax_pool.h"

enum relax_op_code {
	RELAX_OP_CALL,	     /* a packed function */
	RELAX_OP_CALL_BYTECODE, /* another function of the executable */
	RELAX_OP_CALL_NATIVE,   /* a function that works on an array of registers */
	RELAX_OP_INVOKE,	     /* vm.builtin.invoke_closure, without a machine within the machine */
	RELAX_OP_TENSOR,	     /* vm.builtin.alloc_tensor of a constant shape and dtype */
	RELAX_OP_STORAGE,	     /* vm.builtin.alloc_storage of a constant size */
	RELAX_OP_CLEAR,	     /* vm.builtin.null_value: usually releases a tensor */
	RELAX_OP_COPY,	     /* vm.builtin.copy */
	RELAX_OP_RET,
	RELAX_OP_GOTO,
	RELAX_OP_IF,
};

#define RELAX_NOWHERE UINT32_MAX

/**
 * struct relax_op - one instruction, decoded
 * @code: enum relax_op_code
 * @dst: register of the result, or RELAX_NOWHERE
 * @args: operands: a register, or the complement of a place in vm.values
 * @count: how many
 * @target: entry number of the called function; of a jump, how many ops ahead
 * @function: what RELAX_OP_CALL calls, and the others where they cannot do it; borrowed from
 *	vm.values
 * @plan: of RELAX_OP_TENSOR and RELAX_OP_STORAGE
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
 * struct relax_entry - what a call of one of the executable's functions needs
 * @ops: its first op; NULL unless it is bytecode
 * @native: its code; NULL unless it is native
 * @room: values that a frame takes: registers, and arguments of the widest call
 */
struct relax_entry {
	const struct relax_op *ops;
	struct tenon_function *native;
	uint32_t room;
};

struct relax_segment;

/** struct relax_frame - one running function */
struct relax_frame {
	const struct relax_op *at; /* the op that called the one above */
	struct tenon_value *registers;
	struct relax_segment *segment; /* where the registers lie, and what was used of it before */
	uint32_t mark;
	uint32_t function;
	uint32_t dst; /* register of the caller's */
};

/** struct relax_stack - registers of all running functions; blocks that never move */
struct relax_stack {
	struct relax_frame *frames;
	size_t depth;
	size_t room;
	struct relax_segment *segment; /* the one in use */
	uint64_t values;	    /* in use in all */
};

#define RELAX_DEPTH_MOST  20000
#define RELAX_VALUES_MOST (UINT64_C(4) << 20)

struct relax_device;
struct relax_state;

/**
 * struct relax_watch - callback that receives the time of each call
 * @called: called after each packed function that an op called; times as in struct tenon_profiler
 */
struct relax_watch {
	void (*called)(void *context, const struct relax_op *op, uint64_t begin, uint64_t end);
	void *context;
};

/**
 * struct relax_vm - a machine, and the module with its functions
 * @module: kind relax.VirtualMachine
 * @x: what it runs; referenced
 * @pool: its memory
 * @devices: what it runs on, the host last; NULL before relax_init()
 * @device_count: how many
 * @elsewhere: one of them is not the host
 * @entries: one for each function of @x; NULL before relax_init()
 * @ops: instructions of all of them
 * @op_count: how many
 * @operands: what relax_op.args points into
 * @plans: what relax_op.plan points into
 * @plan_count: how many
 * @extents: what relax_plan.extents points into
 * @values: constants of @x, its functions, immediates, None, and the machine
 * @value_count: how many
 * @stack: registers
 * @budget: how many more jumps back and calls of bytecode are allowed; for tests and watchdogs
 * @watch: set while a profile is taken
 * @owner: thread that is inside
 * @nesting: how often it is inside
 * @told: frames that the current error names
 * @scratch: see any_list.h; NULL until code of TVM 0.20 and older passes arguments
 * @state: set_input(), save_function() and the like
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
	const struct relax_watch *watch;
	uintptr_t owner;
	uint32_t nesting;
	uint32_t told;
	struct legacy_scratch *scratch;
	struct relax_state *state;
};

/* relax_list.c: which lists native code may use; any_list_find_fn */
int relax_list_find(const void *list, int index, bool write, struct any_list_place *out);

/** relax_create - make a machine for an executable; not yet initialised. -TENON_E_NOMEM */
int relax_create(struct relax_executable *x, struct tenon_module **out);

/* The machine behind a module; NULL when it is another kind of module. */
struct relax_vm *relax_of(struct tenon_module *m);

/**
 * relax_init - look all functions up and decode the instructions
 *
 * Without relax_set_devices() before, the machine runs on the host alone. Called again it does
 * nothing.
 *
 * Return: 0; -TENON_E_NO_FUNCTION naming every missing function and its caller;
 *	-TENON_E_NOMEM; what a device fails with that constants are copied to.
 */
int relax_init(struct relax_vm *vm);
void relax_unlink(struct relax_vm *vm);

/**
 * relax_enter - make the calling thread the user of the machine
 * @vm: the machine
 * @outer: receives the argument for relax_leave()
 *
 * Return: 0; -TENON_E_USAGE while another thread is inside, or when it is not initialised.
 */
int relax_enter(struct relax_vm *vm, struct relax_vm **outer);
void relax_leave(struct relax_vm *vm, struct relax_vm *outer);

/* The machine that the calling thread runs; NULL for none. Read when any object is destroyed. */
extern __thread struct relax_vm *relax_now __attribute__((tls_model("initial-exec")));

static inline struct relax_vm *relax_current(void)
{
	return relax_now;
}

/* The pool of what that machine makes for the host; NULL outside. */
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
 * Return: 0; -TENON_E_TYPE for the wrong number of arguments; -TENON_E_OVERFLOW when the
 *	thread's stack is nearly used up; what a called function failed with.
 */
int relax_call(struct relax_vm *vm, uint32_t function, const struct tenon_value *args, uint32_t count,
	    struct tenon_value *ret);

/* relax_call() of a closure, or of a function object as it is. */
int relax_invoke(struct relax_vm *vm, const struct tenon_value *callee, const struct tenon_value *args,
	      uint32_t count, struct tenon_value *ret);

/* An argument as a register holds it: owned, and a borrowed DLTensor copied. */
int relax_own_argument(struct relax_vm *vm, const struct tenon_value *arg, struct tenon_value *out);

/* relax_plan.c: allocations whose arguments are constants */
int relax_plan_alloc(struct relax_vm *vm);
void relax_plan_free(struct relax_vm *vm);
/*
 * Plan op number @at of @vm, which calls a function with the words @words; false when it cannot be.
 */
bool relax_plan_op(struct relax_vm *vm, struct relax_op *op, const int64_t *words);

/* relax_stack.c */
int relax_push(struct relax_vm *vm, uint32_t function);
void relax_pop(struct relax_vm *vm);
void relax_stack_fini(struct relax_stack *s);

/*
 * relax_run.c: run the function on top of the stack to its end; on failure its frame is gone too.
 */
int relax_run(struct relax_vm *vm, struct tenon_value *ret);

#endif /* RUNTIME_RELAX_RELAX_H */
