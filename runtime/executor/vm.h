/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_EXECUTOR_VM_H
#define RUNTIME_EXECUTOR_VM_H

/**
 * DOC: the Relax virtual machine
 *
 * An executable is shared and does not change; a machine runs it. When a machine is initialised every
 * function is looked up once and the instructions become a flat array: operands are places in the
 * frame's registers or in one array of constants, functions are addresses. A frame lies on the
 * machine's own stack together with the room its calls need for their arguments, so that a call costs
 * copying its arguments, and allocates nothing.
 *
 * A machine is used by one thread at a time. It may be entered again from within: a packed function
 * that it calls may call it back.
 */

#include "runtime/executor/vm_executable.h"
#include "runtime/executor/vm_pool.h"

enum vm_op_code {
	VM_OP_CALL,	     /* a packed function */
	VM_OP_CALL_BYTECODE, /* another function of the executable */
	VM_OP_CALL_NATIVE,   /* a function that works on an array of registers */
	VM_OP_INVOKE,	     /* vm.builtin.invoke_closure, without a machine within the machine */
	VM_OP_TENSOR,	     /* vm.builtin.alloc_tensor of a constant shape and dtype */
	VM_OP_STORAGE,	     /* vm.builtin.alloc_storage of a constant size */
	VM_OP_CLEAR,	     /* vm.builtin.null_value: most often to let go of a tensor */
	VM_OP_COPY,	     /* vm.builtin.copy */
	VM_OP_RET,
	VM_OP_GOTO,
	VM_OP_IF,
};

#define VM_NOWHERE UINT32_MAX

/**
 * struct vm_op - one instruction, decoded
 * @code: enum vm_op_code
 * @dst: register of the result, or VM_NOWHERE
 * @args: operands: a register, or the complement of a place in vm.values
 * @count: how many
 * @target: entry number of the called function; of a jump, how many ops ahead
 * @function: what VM_OP_CALL calls, and the others where they cannot do it; borrowed from vm.values
 * @plan: of VM_OP_TENSOR and VM_OP_STORAGE
 */
struct vm_op {
	uint32_t code;
	uint32_t dst;
	const int32_t *args;
	uint32_t count;
	int32_t target;
	struct tenon_function *function;
	const struct vm_plan *plan;
};

/**
 * struct vm_entry - what a call of one of the executable's functions needs
 * @ops: its first op; NULL unless it is bytecode
 * @native: its code; NULL unless it is native
 * @room: values that a frame takes: registers, and arguments of the widest call
 */
struct vm_entry {
	const struct vm_op *ops;
	struct tenon_function *native;
	uint32_t room;
};

struct vm_segment;

/** struct vm_frame - one running function */
struct vm_frame {
	const struct vm_op *at; /* the op that called the one above */
	struct tenon_value *registers;
	struct vm_segment *segment; /* where the registers lie, and what was used of it before */
	uint32_t mark;
	uint32_t function;
	uint32_t dst; /* register of the caller's */
};

/** struct vm_stack - registers of all running functions; blocks that never move */
struct vm_stack {
	struct vm_frame *frames;
	size_t depth;
	size_t room;
	struct vm_segment *segment; /* the one in use */
	uint64_t values;	    /* in use in all */
};

#define VM_DEPTH_MOST  20000
#define VM_VALUES_MOST (UINT64_C(4) << 20)

struct vm_device;
struct vm_state;

/**
 * struct vm_watch - who wants to know how long calls take
 * @called: called after each packed function that an op called; times as in struct tenon_profiler
 */
struct vm_watch {
	void (*called)(void *context, const struct vm_op *op, uint64_t begin, uint64_t end);
	void *context;
};

/**
 * struct vm - a machine, and the module with its functions
 * @module: kind relax.VirtualMachine
 * @x: what it runs; referenced
 * @pool: its memory
 * @devices: what it runs on, the host last; NULL before vm_init()
 * @device_count: how many
 * @elsewhere: one of them is not the host
 * @entries: one for each function of @x; NULL before vm_init()
 * @ops: instructions of all of them
 * @op_count: how many
 * @operands: what vm_op.args points into
 * @plans: what vm_op.plan points into
 * @plan_count: how many
 * @extents: what vm_plan.extents points into
 * @values: constants of @x, its functions, immediates, None, and the machine
 * @value_count: how many
 * @stack: registers
 * @budget: how many more jumps back and calls of bytecode are allowed; for tests and watchdogs
 * @watch: set while a profile is taken
 * @owner: thread that is inside
 * @nesting: how often it is inside
 * @told: frames that the current error names
 * @scratch: of arguments that code of TVM 0.20 and older is given; NULL until there are any
 * @state: set_input(), save_function() and the like
 */
struct vm {
	struct tenon_module module;
	struct vm_executable *x;
	struct vm_pool *pool;
	struct vm_device *devices;
	uint32_t device_count;
	bool elsewhere;
	struct vm_entry *entries;
	struct vm_op *ops;
	uint32_t op_count;
	int32_t *operands;
	struct vm_plan *plans;
	uint32_t plan_count;
	int64_t *extents;
	struct tenon_value *values;
	uint32_t value_count;
	struct vm_stack stack;
	uint64_t budget;
	const struct vm_watch *watch;
	uintptr_t owner;
	uint32_t nesting;
	uint32_t told;
	void *scratch;
	struct vm_state *state;
};

/** vm_create - make a machine for an executable; not yet initialised. -TENON_E_NOMEM */
int vm_create(struct vm_executable *x, struct tenon_module **out);

/* The machine behind a module; NULL when it is another kind of module. */
struct vm *vm_of(struct tenon_module *m);

/**
 * vm_init - look all functions up and decode the instructions
 *
 * Without vm_set_devices() before, the machine runs on the host alone. Called again it does nothing.
 *
 * Return: 0; -TENON_E_NO_FUNCTION naming every function that is missing, and who calls it;
 *	-TENON_E_NOMEM; what a device fails with that constants are copied to.
 */
int vm_init(struct vm *vm);
void vm_unlink(struct vm *vm);

/**
 * vm_enter - be the one who uses the machine
 * @vm: the machine
 * @outer: receives what vm_leave() wants
 *
 * Return: 0; -TENON_E_USAGE while another thread is inside, or when it is not initialised.
 */
int vm_enter(struct vm *vm, struct vm **outer);
void vm_leave(struct vm *vm, struct vm *outer);

/* The machine that the calling thread runs now; NULL outside. Looked at with every object that dies. */
extern __thread struct vm *vm_now __attribute__((tls_model("initial-exec")));

static inline struct vm *vm_current(void)
{
	return vm_now;
}

/* The pool of what that machine makes for the host; NULL outside. */
static inline struct vm_pool *vm_current_pool(void)
{
	return vm_now ? vm_now->pool : NULL;
}

/**
 * vm_call - call a function of the executable, bytecode or native
 * @vm: an initialised machine
 * @function: its entry number
 * @args: @count views; a borrowed DLTensor is copied
 * @ret: receives an owned value
 *
 * Return: 0; -TENON_E_TYPE for the wrong number of arguments; -TENON_E_OVERFLOW when the
 *	thread's stack is nearly used up; what a called function failed with.
 */
int vm_call(struct vm *vm, uint32_t function, const struct tenon_value *args, uint32_t count,
	    struct tenon_value *ret);

/* vm_call() of a closure, or of a function object as it is. */
int vm_invoke(struct vm *vm, const struct tenon_value *callee, const struct tenon_value *args,
	      uint32_t count, struct tenon_value *ret);

/* An argument as a register holds it: owned, and a borrowed DLTensor copied. */
int vm_own_argument(struct vm *vm, const struct tenon_value *arg, struct tenon_value *out);

/* vm_plan.c: allocations whose arguments are constants */
int vm_plan_alloc(struct vm *vm);
void vm_plan_free(struct vm *vm);
/* Plan op number @at of @vm, which calls a function with the words @words; false when it cannot be. */
bool vm_plan_op(struct vm *vm, struct vm_op *op, const int64_t *words);

/* vm_stack.c */
int vm_push(struct vm *vm, uint32_t function);
void vm_pop(struct vm *vm);
void vm_stack_fini(struct vm_stack *s);

/* vm_run.c: run the function on top of the stack to its end; on failure its frame is gone too. */
int vm_run(struct vm *vm, struct tenon_value *ret);

#endif /* RUNTIME_EXECUTOR_VM_H */
