/* SPDX-License-Identifier: MIT */
#ifndef TENON_MODEL_H
#define TENON_MODEL_H

/**
 * DOC: models
 *
 * One face for whole models, whichever executor they were exported for: inputs are set, the model
 * runs, outputs are taken. tenon_model_open() finds the executor by the kind of the root module.
 *
 *	tenon_module_load("resnet18.so", &root);
 *	tenon_model_open(root, NULL, &model);
 *	tenon_model_set_input(model, 0, &image);
 *	tenon_model_run(model);
 *	tenon_model_output_value(model, 0, &scores);
 *
 * A model may run on devices (struct tenon_model_options). Inputs are copied to where the model wants
 * them, from wherever they lie; outputs stay on the device, and tenon_tensor_copy() brings them to the
 * host. A run may come back while its devices still work: what fails then is told by that copy, or by
 * tenon_device_sync().
 *
 * A model may be used by any thread, by one at a time. Open it twice to run it twice at a time.
 */

#include <tenon/export.h>
#include <tenon/module.h>
#include <tenon/params.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tenon_model;

/**
 * struct tenon_port - an input or output
 * @name: its name; lives as long as the model, as the rest does
 * @dtype: element type; {0,0,0} when it is not known before a run, or when it is no tensor
 * @ndim: number of dimensions; -1 when that is not known
 * @shape: @ndim extents; -1 for one that differs from run to run
 */
struct tenon_port {
	struct tenon_slice name;
	DLDataType dtype;
	int32_t ndim;
	const int64_t *shape;
};

/**
 * struct tenon_model_options - how to open a model; zero is the default of each
 * @devices: devices to run on; the first is the main one. A graph says for each storage of which type
 *	its device is; a Relax model numbers them. The host is always there, and need not be listed.
 * @device_count: how many; 0 for the CPU alone
 * @function: which model of the file: a factory's model name (else "default", or the only one), or
 *	a function of a Relax executable (else "main")
 * @describe: only look: no code of the model is looked up or run, so the root may come from
 *	tenon_module_inspect(); no memory is taken for tensors, and inputs cannot be set
 */
struct tenon_model_options {
	const DLDevice *devices;
	size_t device_count;
	const char *function;
	bool describe;
};

/**
 * struct tenon_model_memory - what a model keeps in memory, in bytes
 * @params: parameters and constants
 * @activations: storage for inputs, outputs and what is between
 * @workspace: workspace that is fixed beforehand
 * @storages: number of separate pieces of storage
 */
struct tenon_model_memory {
	uint64_t params;
	uint64_t activations;
	uint64_t workspace;
	size_t storages;
};

/** enum tenon_role - where a value of a model comes from */
enum tenon_role {
	TENON_ROLE_INPUT = 0,
	TENON_ROLE_PARAM = 1,
	TENON_ROLE_RESULT = 2, /* of an operator */
};

/**
 * struct tenon_model_value - a tensor inside a model
 * @port: name, dtype and shape
 * @role: where it comes from
 * @storage: number of the storage it lies in; -1 when it has none of its own
 * @bytes: size of its data
 */
struct tenon_model_value {
	struct tenon_port port;
	enum tenon_role role;
	int64_t storage;
	uint64_t bytes;
};

/**
 * struct tenon_op - an operator, in the order of running
 * @name: its name in the model; may repeat
 * @function: what is called; empty when nothing is
 * @inputs: numbers of the values it reads (tenon_model_value_at()); @input_count of them
 * @outputs: numbers of the values it writes; @output_count of them
 */
struct tenon_op {
	struct tenon_slice name;
	struct tenon_slice function;
	const uint32_t *inputs;
	size_t input_count;
	const uint32_t *outputs;
	size_t output_count;
};

/**
 * struct tenon_profiler - who wants to know how long operators take
 * @op: called after each: @index is its number, @begin and @end are CLOCK_MONOTONIC in nanoseconds.
 *	The operator lives for the call. Must not use the model.
 * @context: handed to @op
 */
struct tenon_profiler {
	void (*op)(void *context, size_t index, const struct tenon_op *op, uint64_t begin,
		   uint64_t end);
	void *context;
};

/**
 * tenon_executors_register - let module loaders and global functions know the executors
 *
 * From then on tenon_module_load() makes factories of the kinds GraphExecutorFactory,
 * AotExecutorFactory and the like instead of modules that can only be listed. tenon_model_open() does
 * it too, but a factory that was loaded before then is only listed. Calling it again does nothing.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
TENON_API int tenon_executors_register(void);

/**
 * tenon_model_open - make a model of what a file holds
 * @root: root of an import tree; referenced
 * @options: NULL for all defaults
 * @out: receives the model
 *
 * Parameters that the file carries are set.
 *
 * Return: 0; -TENON_E_UNSUPPORTED for a root that is no model, or of an executor this build lacks;
 *	-TENON_E_NOT_FOUND for a model of another name; -TENON_E_NO_FUNCTION for functions that the model
 *	calls and that are neither in the file nor registered; -TENON_E_FORMAT, -TENON_E_TRUNCATED, -TENON_E_OVERFLOW, -TENON_E_CYCLE, -TENON_E_VALUE for a description that
 *	cannot be run; -TENON_E_DEVICE; -TENON_E_NOMEM.
 */
TENON_API int tenon_model_open(struct tenon_module *root, const struct tenon_model_options *options,
			       struct tenon_model **out);

/**
 * tenon_model_open_graph - make a model of a library and a graph kept apart
 * @library: module with the functions; referenced
 * @graph: graph.json; copied
 * @params: its parameters, or NULL; referenced where they are used in place
 * @options: NULL for all defaults
 * @out: receives the model
 *
 * Return: as tenon_model_open().
 */
TENON_API int tenon_model_open_graph(struct tenon_module *library, struct tenon_slice graph,
				     struct tenon_params *params,
				     const struct tenon_model_options *options,
				     struct tenon_model **out);

/** tenon_model_close - give a model back; tensors taken from it stay. NULL is allowed. */
TENON_API void tenon_model_close(struct tenon_model *model);

/** tenon_model_kind - name of the executor: "graph", "aot", "relax" */
TENON_API const char *tenon_model_kind(const struct tenon_model *model);

/** tenon_model_input_count - number of inputs, those that are set as parameters included */
TENON_API size_t tenon_model_input_count(struct tenon_model *model);

/** tenon_model_output_count - number of outputs; a Relax model knows it after a run, else it is 0 */
TENON_API size_t tenon_model_output_count(struct tenon_model *model);

/**
 * tenon_model_input - describe an input
 * @model: the model
 * @index: below tenon_model_input_count()
 * @out: receives the description
 *
 * Return: 0; -TENON_E_USAGE for an index out of range.
 */
TENON_API int tenon_model_input(struct tenon_model *model, size_t index, struct tenon_port *out);

/** tenon_model_output - describe an output; as tenon_model_input() */
TENON_API int tenon_model_output(struct tenon_model *model, size_t index, struct tenon_port *out);

/**
 * tenon_model_find_input - number of the input with a name
 *
 * Return: 0; -TENON_E_NOT_FOUND, with the nearest names in the message.
 */
TENON_API int tenon_model_find_input(struct tenon_model *model, struct tenon_slice name,
				     size_t *index);

/** tenon_model_find_output - number of the output with a name; as tenon_model_find_input() */
TENON_API int tenon_model_find_output(struct tenon_model *model, struct tenon_slice name,
				      size_t *index);

/** tenon_model_input_is_set - has the input a content: a parameter, or set before */
TENON_API bool tenon_model_input_is_set(struct tenon_model *model, size_t index);

/**
 * tenon_model_set_input - copy a value into an input
 * @model: the model
 * @index: number of the input
 * @value: a tensor of the input's shape and dtype; a Relax model may want other values
 *
 * Return: 0; -TENON_E_TYPE, -TENON_E_VALUE for a dtype or shape that differs; -TENON_E_USAGE for an
 *	index out of range; -TENON_E_DEVICE; -TENON_E_NOMEM.
 */
TENON_API int tenon_model_set_input(struct tenon_model *model, size_t index,
				    const struct tenon_value *value);

/**
 * tenon_model_bind_input - use a tensor as an input, without copying
 * @model: the model
 * @index: number of the input
 * @tensor: compact, and aligned as the code needs (TENON_TENSOR_ALIGN always is enough); referenced
 *	until the input is set or bound anew. Its content is read at each run.
 *
 * Return: as tenon_model_set_input(); -TENON_E_VALUE also for data that is not aligned.
 */
TENON_API int tenon_model_bind_input(struct tenon_model *model, size_t index,
				     struct tenon_tensor *tensor);

/**
 * tenon_model_set_params - set inputs by name
 * @model: the model
 * @params: parameters; those that are no inputs are ignored. Referenced where they are used in place.
 *
 * Return: 0; as tenon_model_set_input(), with the parameter's name; -TENON_E_UNSUPPORTED for a
 *	model whose inputs have no names.
 */
TENON_API int tenon_model_set_params(struct tenon_model *model, struct tenon_params *params);

/**
 * tenon_model_run - run the model once
 *
 * Return: 0; -TENON_E_USAGE naming an input that was never set; -TENON_E_CALL or other when an
 *	operator failed, with its name in the message; -TENON_E_NO_FUNCTION when compiled code calls a
 *	function that is not there, which is known only then.
 */
TENON_API int tenon_model_run(struct tenon_model *model);

/**
 * tenon_model_run_profiled - run the model once, and tell of each operator
 *
 * Return: as tenon_model_run().
 */
TENON_API int tenon_model_run_profiled(struct tenon_model *model,
				       const struct tenon_profiler *profiler);

/**
 * tenon_model_output_value - take an output
 * @model: the model
 * @index: number of the output
 * @out: receives an owned value, usually a tensor. A tensor's data may lie in the model's own storage:
 *	it stays alive, and is overwritten by the next run.
 *
 * Return: 0; -TENON_E_USAGE for an index out of range or before the first run; -TENON_E_NOMEM.
 */
TENON_API int tenon_model_output_value(struct tenon_model *model, size_t index,
				       struct tenon_value *out);

/**
 * struct tenon_stream - where a streaming loop gets its inputs from and puts its outputs
 * @fill: sets the inputs of round @round; returns 0 to go on, 1 to end, a negative status to fail
 * @take: takes the outputs; returns as @fill does. May be NULL.
 * @context: handed to both
 */
struct tenon_stream {
	int (*fill)(void *context, struct tenon_model *model, uint64_t round);
	int (*take)(void *context, struct tenon_model *model, uint64_t round);
	void *context;
};

/**
 * tenon_model_stream - run the model again and again
 * @model: the model
 * @stream: called around each run; nothing is allocated between its calls
 * @rounds: receives the number of whole rounds; may be NULL
 *
 * Return: 0; what @stream or a run failed with, with the round in the message.
 */
TENON_API int tenon_model_stream(struct tenon_model *model, const struct tenon_stream *stream,
				 uint64_t *rounds);

/** tenon_model_memory - what the model keeps in memory; all 0 where that is not fixed beforehand */
TENON_API void tenon_model_memory(struct tenon_model *model, struct tenon_model_memory *out);

/**
 * tenon_model_each_op - visit the operators in the order of running
 * @model: the model
 * @visit: called with each; stops when it returns non-zero
 * @context: handed to @visit
 *
 * Return: what the last @visit returned; -TENON_E_UNSUPPORTED for code without operators of its own
 *	(ahead-of-time compiled).
 */
TENON_API int tenon_model_each_op(struct tenon_model *model,
				  int (*visit)(void *context, size_t index,
					       const struct tenon_op *op),
				  void *context);

/** tenon_model_value_count - number of values that operators name; 0 where they are not told apart */
TENON_API size_t tenon_model_value_count(struct tenon_model *model);

/** tenon_model_value_at - describe a value; as tenon_model_input() */
TENON_API int tenon_model_value_at(struct tenon_model *model, size_t index,
				   struct tenon_model_value *out);

#ifdef __cplusplus
}
#endif

#endif /* TENON_MODEL_H */
