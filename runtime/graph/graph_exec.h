/* SPDX-License-Identifier: MIT */
/* Graph models: calls in a list, and where their tensors are. */
#ifndef RUNTIME_GRAPH_GRAPH_EXEC_H
#define RUNTIME_GRAPH_GRAPH_EXEC_H

/*
 * Creating a graph model compiles the graph and a library into a flat list of calls: the address of
 * a function, and its arguments in the form that it takes. A run is a loop over the list. Code that
 * moves a tensor must update the prepared arguments.
 */

#include <tenon/backend/module_kind.h>

#include "lib/string_map.h"
#include "runtime/core/arguments.h"
#include "runtime/library/tvm_types.h"
#include "runtime/graph/graph.h"
#include "runtime/model/model.h"
#include "runtime/model/storage.h"
#include "runtime/model/tensor_place.h"

/**
 * struct graph_call - one call of the plan
 * @fn: a compiled function of the older convention, or a bridge to something else
 * @args: its arguments, all DLTensor
 * @resource: target of a bridge; NULL for compiled functions
 * @count: number of arguments
 * @node: node that the call belongs to
 */
struct graph_call {
	legacy_fn fn;
	union legacy_value *args;
	void *resource;
	int count;
	uint32_t node;
};

/**
 * struct graph_place - location of an entry's data; entries after __nop use that of their source
 * @data: address, or tensor data of the device
 * @keep: the bound object that keeps it alive; NULL for memory of the graph
 * @constant: read-only
 */
struct graph_place {
	char *data;
	struct tenon_object *keep;
	bool constant;
};

/**
 * struct graph_exec - an executable graph
 * @base: base model of tenon/model.h
 * @graph: the parsed graph
 * @arena: memory of storages on the host
 * @lasting: memory of those with parameters, where it must not be shared; else NULL
 * @homes: memory of each of these storages; NULL where there is none, because its only tensor is a
 *	parameter that is used in place
 * @where: device of each storage
 * @memories: memory of each storage on a device; NULL when there is none
 * @others: the devices of these, each once
 * @thread: thread of the last run; used only with @others
 * @shared: a dma-buf of the caller that the device uses, whose parts @memories are; NULL for none
 * @block: the bytes of all @memories in planned memory
 * @places: location of each entry's data
 * @calls: the plan; @call_count of them
 * @codes: type codes of arguments; all are equal, so all calls share one list
 * @tensors: the arguments of all calls, in order
 * @uses: indices in @tensors by entry: those of entry e are from use_start[e] up to use_start[e +
 * 1]
 * @functions: functions that the plan calls, each once, referenced
 * @inputs: name of an input to its index plus one
 * @set: for each input: it has data
 * @param: for each input: it was set from a parameter
 * @needed: for each input: an operator reads it
 * @unset: inputs that are needed and not set
 * @outputs: tensors handed out for outputs; NULL until requested
 * @device: main device, for storages without a device in the graph
 */
struct graph_exec {
	struct tenon_model base;
	struct graph graph;
	struct storage *arena;
	struct storage *lasting;
	char **homes;
	DLDevice *where;
	struct tenon_memory **memories;
	struct tenon_memory *shared;
	void *block;
	DLDevice *others;
	size_t other_count;
	const void *thread;
	struct graph_place *places;
	struct graph_call *calls;
	size_t call_count;
	int *codes;
	union legacy_value *values;
	DLTensor *tensors;
	size_t tensor_count;
	uint32_t *use_start;
	uint32_t *uses;
	void *bridges;
	int64_t *flat;
	struct tenon_function **functions;
	size_t function_count;
	struct string_map inputs;
	bool *set;
	bool *param;
	bool *needed;
	uint32_t unset;
	struct tenon_tensor **outputs;
	DLDevice device;
};

static inline struct graph_exec *graph_exec_of(struct tenon_model *m)
{
	return (struct graph_exec *)m;
}

/**
 * graph_exec_create - create an executable graph
 * @root: module that contains it
 * @library: module to look up functions in; ignored when @o->describe is set
 * @json: JSON of the graph
 * @params: parameters that will be set before those of @o, or NULL
 * @o: options
 * @out: receives the graph; free it with tenon_model_close()
 */
int graph_exec_create(struct tenon_module *root, struct tenon_module *library,
		      struct tenon_slice json, struct tenon_params *params,
		      const struct tenon_model_options *o, struct graph_exec **out);

/* graph_plan.c: compile the calls after entries have their places. */
int graph_plan(struct graph_exec *x, struct tenon_module *library);
void graph_plan_fini(struct graph_exec *x);

/* graph_device.c: choose the devices of storages and allocate memory there. */
int graph_choose_devices(struct graph_exec *x, const struct tenon_model_options *o);
int graph_make_memories(struct graph_exec *x);
void graph_free_memories(struct graph_exec *x);
/* graph_shared.c: storages of a device in a dma-buf, which is the planned memory of the caller. */
int graph_share(struct graph_exec *x);
void graph_unshare(struct graph_exec *x);
/* Make the memory of one of these storages, which are given in the order of their numbers; @*at: 0 at first. */
int graph_share_storage(struct graph_exec *x, uint32_t storage, uint64_t *at);
/* Bytes of a dma-buf with all planned memory; bytes of memory that drivers allocate. */
uint64_t graph_shared_bytes(struct tenon_model *m);
uint64_t graph_device_bytes(struct tenon_model *m);
/* Get the tensor data of an entry in its own storage, which may be NULL, and the object that keeps it alive. */
char *graph_own_storage(const struct graph_exec *x, uint32_t entry);
struct tenon_object *graph_own_keeper(const struct graph_exec *x, uint32_t entry);
/* Order the calling thread's work after that of the last thread that ran the graph. */
int graph_follow(struct graph_exec *x);
/* Wait for all devices of the graph. Return: 0; the first error of an operation. */
int graph_wait(const struct graph_exec *x);

/* Device of an entry. */
static inline DLDevice graph_entry_device(const struct graph_exec *x, uint32_t entry)
{
	int32_t storage = x->graph.entries[entry].storage;

	return storage < 0 ? x->device : x->where[storage];
}

static inline bool graph_on_host(const struct graph_exec *x, uint32_t entry)
{
	return !PLACE_HAS_DEVICES || place_is_host(graph_entry_device(x, entry));
}

static inline bool graph_storage_on_host(const struct graph_exec *x, uint32_t storage)
{
	return !PLACE_HAS_DEVICES || place_is_host(x->where[storage]);
}

/* graph_place.c: locations of tensors */

/* Allocate storages, with regard to @params and those of the options, and put every entry into its own. */
int graph_place_all(struct graph_exec *x, const struct tenon_params *params,
		    const struct tenon_model_options *o);

/* Describe an entry as a tensor. */
DLTensor graph_entry_tensor(const struct graph_exec *x, uint32_t entry);

/* Move an entry, and all entries that share its data through __nop. @keep NULL: to its storage. */
void graph_move(struct graph_exec *x, uint32_t entry, void *data, struct tenon_object *keep,
		bool constant);

/* Make an entry writable: copy it to its storage if it is in constant memory. */
void graph_make_writable(struct graph_exec *x, uint32_t entry);

/* Check the type and shape of a tensor on any device against an entry. */
int graph_check_tensor(const struct graph_exec *x, uint32_t entry, const DLTensor *t);
/* The same, and check that it can replace the entry's data: device, alignment, offset. */
int graph_check_place(const struct graph_exec *x, uint32_t entry, const DLTensor *t);

/* The entry of an input. */
static inline uint32_t graph_input_entry(const struct graph_exec *x, size_t index)
{
	return x->graph.nodes[x->graph.inputs[index]].first_output;
}

/* Copy a checked tensor into an input. */
int graph_set_input(struct graph_exec *x, size_t index, const DLTensor *t);
/* Use a tensor's memory as an input. @keep may be NULL if the caller keeps the memory alive. */
int graph_bind_input(struct graph_exec *x, size_t index, const DLTensor *t,
		     struct tenon_object *keep);
int graph_bind_output(struct graph_exec *x, size_t index, const DLTensor *t,
		      struct tenon_object *keep);
int graph_set_param(struct graph_exec *x, size_t index, struct tenon_params *params,
		    const struct tenon_param *param);
void graph_mark_set(struct graph_exec *x, size_t index);

/* Get a tensor object for an entry; it is shared until the entry moves. */
int graph_view(struct graph_exec *x, uint32_t entry, struct tenon_tensor **out);
int graph_output(struct graph_exec *x, size_t index, struct tenon_tensor **out);

/*
 * graph_model.c: operations for host-only graphs, and for graphs on devices, which check for a
 * change of thread
 */
extern const struct model_ops graph_model_ops;
extern const struct model_ops graph_device_model_ops;

static inline bool graph_is_model(const struct tenon_model *m)
{
	return m->ops == &graph_model_ops || m->ops == &graph_device_model_ops;
}

/* graph_module.c: loaders of the factories, and the function `tvm.graph_executor.create` */
int graph_factory_load(struct tenon_cursor *c, const struct tenon_payload *payload,
		       struct tenon_module **out);
int graph_runtime_factory_load(struct tenon_cursor *c, const struct tenon_payload *payload,
			       struct tenon_module **out);
PACKED_CALL(graph_executor_create);

#endif /* RUNTIME_GRAPH_GRAPH_EXEC_H */
