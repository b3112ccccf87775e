/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_GRAPH_GRAPH_EXEC_H
#define RUNTIME_GRAPH_GRAPH_EXEC_H

/**
 * DOC: running graphs
 *
 * A graph and a library are compiled once into a flat list of calls: the address of a function, and
 * its arguments in the form that the function takes. A run is a loop over that list. Code that
 * moves a tensor must change the prepared arguments.
 */

#include "lib/string_map.h"
#include "runtime/library/tvm_types.h"
#include "runtime/graph/graph.h"
#include "runtime/model/model.h"
#include "runtime/model/storage.h"

/**
 * struct graph_call - one call of the plan
 * @fn: a compiled function of the older convention, or a bridge to something else
 * @args: its arguments, all DLTensor
 * @resource: NULL for compiled functions; for a bridge what it bridges to
 * @count: number of arguments
 * @node: whose call it is
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
 * @constant: not to be written to
 */
struct graph_place {
	char *data;
	struct tenon_object *keep;
	bool constant;
};

/**
 * struct graph_exec - a graph that can run
 * @base: face to tenon/model.h
 * @graph: what was read
 * @arena: storage of all entries that lie in the process's memory
 * @offsets: of each of those storages in the arena
 * @where: of each storage: its device
 * @memories: memory of each storage on a device; NULL when there is none
 * @others: devices of those, each once
 * @thread: that ran it last, where there are others
 * @places: of each entry
 * @calls: the plan; @call_count of them
 * @codes: type codes of arguments: all the same, so one list serves every call
 * @tensors: the arguments, call by call
 * @uses: numbers in @tensors by entry: those of entry e are from use_start[e] up to use_start[e +
 *	1]
 * @functions: what the plan calls, each once, referenced
 * @inputs: names of inputs to their number plus one
 * @set: of each input: has a content
 * @param: of each input: its content was a parameter
 * @needed: for each input: an operator reads it
 * @unset: inputs that are needed and not set
 * @outputs: tensors given out for heads; NULL until asked for
 * @device: main device, of storages for which the graph names none
 */
struct graph_exec {
	struct tenon_model base;
	struct graph graph;
	struct storage *arena;
	uint64_t *offsets;
	DLDevice *where;
	struct tenon_memory **memories;
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
 * graph_exec_create - make a graph that can run
 * @root: module it is part of
 * @library: where functions are looked up; not looked at when @o->describe is set
 * @json: text of the graph
 * @o: options
 * @out: receives it; free it with tenon_model_close()
 */
int graph_exec_create(struct tenon_module *root, struct tenon_module *library,
		      struct tenon_slice json, const struct tenon_model_options *o,
		      struct graph_exec **out);

/* graph_plan.c: compile the calls, when places are known */
int graph_plan(struct graph_exec *x, struct tenon_module *library);
void graph_plan_fini(struct graph_exec *x);

/* graph_device.c: devices of storages, and memory on them */
int graph_choose_devices(struct graph_exec *x, const struct tenon_model_options *o);
int graph_make_memories(struct graph_exec *x);
void graph_free_memories(struct graph_exec *x);
/* What a tensor in the storage of an entry has as its data, and the object that keeps it. */
char *graph_own_storage(const struct graph_exec *x, uint32_t entry);
struct tenon_object *graph_own_keeper(const struct graph_exec *x, uint32_t entry);
/* The calling thread runs the graph: its work comes behind that of the thread before. */
int graph_follow(struct graph_exec *x);
/* Wait for the devices of the graph. 0; the first failure of an operation. */
int graph_wait(const struct graph_exec *x);

/* Device of an entry. */
static inline DLDevice graph_entry_device(const struct graph_exec *x, uint32_t entry)
{
	int32_t storage = x->graph.entries[entry].storage;

	return storage < 0 ? x->device : x->where[storage];
}

/* graph_place.c: where tensors lie */

/* Lay out storages, and put every entry in its own. */
int graph_place_all(struct graph_exec *x, const struct tenon_model_options *o);

/* Describe an entry as a tensor. */
DLTensor graph_entry_tensor(const struct graph_exec *x, uint32_t entry);

/*
 * Put an entry, and all that share its data behind __nop, elsewhere. @keep NULL: into its storage.
 */
void graph_move(struct graph_exec *x, uint32_t entry, void *data, struct tenon_object *keep,
		bool constant);

/* Make sure that an entry may be written to: from constant memory it is copied to its storage. */
void graph_make_writable(struct graph_exec *x, uint32_t entry);

/* Check the type and shape of a tensor on any device against an entry. */
int graph_check_tensor(const struct graph_exec *x, uint32_t entry, const DLTensor *t);
/* Check this, and that it can take the entry's place: device, alignment, offset. */
int graph_check_place(const struct graph_exec *x, uint32_t entry, const DLTensor *t);

/* The entry of an input. */
static inline uint32_t graph_input_entry(const struct graph_exec *x, size_t index)
{
	return x->graph.nodes[x->graph.inputs[index]].first_output;
}

/* Copy a checked tensor into an input. */
int graph_set_input(struct graph_exec *x, size_t index, const DLTensor *t);
/* Use the memory of a tensor; @keep may be NULL: then the caller keeps it alive. */
int graph_bind_input(struct graph_exec *x, size_t index, const DLTensor *t,
		     struct tenon_object *keep);
int graph_bind_output(struct graph_exec *x, size_t index, const DLTensor *t,
		      struct tenon_object *keep);
int graph_set_param(struct graph_exec *x, size_t index, struct tenon_params *params,
		    const struct tenon_param *param);
void graph_mark_set(struct graph_exec *x, size_t index);

/* A tensor object of an entry, as long as it does not move. */
int graph_view(struct graph_exec *x, uint32_t entry, struct tenon_tensor **out);
int graph_output(struct graph_exec *x, size_t index, struct tenon_tensor **out);

/*
 * graph_model.c: a graph on the host alone, and one on devices, whose thread must not change
 * unnoticed
 */
extern const struct model_ops graph_model_ops;
extern const struct model_ops graph_device_model_ops;

static inline bool graph_is_model(const struct tenon_model *m)
{
	return m->ops == &graph_model_ops || m->ops == &graph_device_model_ops;
}

#endif /* RUNTIME_GRAPH_GRAPH_EXEC_H */
