/* SPDX-License-Identifier: MIT */
#ifndef TENON_MODEL_H
#define TENON_MODEL_H

/**
 * DOC: models
 *
 * One interface for models of all executors: set inputs, run the model, get outputs.
 * tenon_model_open() chooses the executor by the kind of the root module.
 *
 *	tenon_module_load("resnet18.so", &root);
 *	tenon_model_open(root, NULL, &model);
 *	tenon_model_set_input(model, 0, &image);
 *	tenon_model_run(model);
 *	tenon_model_output_value(model, 0, &scores);
 *
 * A model may run on devices (struct tenon_model_options). Inputs are copied to the device that
 * needs them. Outputs stay on their device; copy them to the host with tenon_tensor_copy(). A run
 * may return before its devices are done: that copy, or tenon_device_sync(), returns errors that
 * occur later.
 *
 * Any thread may use a model, but only one at a time. To run a model concurrently, open it twice.
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
 * @name: its name
 * @dtype: element type; {0,0,0} when unknown before a run, or when the value is not a tensor
 * @ndim: number of dimensions; -1 when unknown
 * @shape: @ndim extents; -1 for one that varies between runs
 *
 * Name and shape are valid as long as the model.
 */
struct tenon_port {
	struct tenon_slice name;
	DLDataType dtype;
	int32_t ndim;
	const int64_t *shape;
};

/**
 * struct tenon_model_options - options for opening a model; 0 selects each default
 * @size: sizeof(struct tenon_model_options)
 * @devices: devices to run on; the first is the main device. A graph gives the device type of each
 *	storage; a Relax model refers to devices by number; operators that an NPU's compiler replaced run on
 *	the first that is not the CPU. The host need not be listed.
 * @device_count: number of devices; 0 for the CPU alone
 * @function: model in the file: a factory's model name (default: "default", or the only one), or a
 *	function of a Relax executable (default: "main")
 * @describe: only read the description: no code of the model is looked up or run, so the root may
 *	come from tenon_module_inspect(). No tensors are allocated, and inputs cannot be set.
 * @params: parameters to set by name, as by tenon_model_set_params(); NULL for none. Models of a
 *	server are set by their client.
 * @graph: graph.json of a graph whose functions are those of the root, which may be of any kind; data NULL
 *	for a model that is in the import tree. It need not outlive the call
 */
struct tenon_model_options {
	size_t size;
	const DLDevice *devices;
	size_t device_count;
	const char *function;
	bool describe;
	struct tenon_params *params;
	struct tenon_slice graph;
};

/**
 * struct tenon_model_memory - memory use of a model, in bytes
 * @params: parameters and constants
 * @activations: storage for inputs, outputs and intermediate values
 * @workspace: workspace of fixed size
 * @storages: number of separate storages
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
 * @storage: number of its storage; -1 for none
 * @bytes: size of its data
 */
struct tenon_model_value {
	struct tenon_port port;
	enum tenon_role role;
	int64_t storage;
	uint64_t bytes;
};

/**
 * struct tenon_op - an operator, in execution order
 * @name: its name in the model; need not be unique
 * @function: the function it calls; empty for none
 * @inputs: numbers of the @input_count values it reads (tenon_model_value_at())
 * @outputs: numbers of the @output_count values it writes
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
 * struct tenon_profiler - callback that receives the time of each operator
 * @size: sizeof(struct tenon_profiler)
 * @op: called after each operator. @index is its number, @begin and @end are nanoseconds of
 *	CLOCK_MONOTONIC. @op is valid during the call. The callback must not use the model.
 * @context: passed to @op
 */
struct tenon_profiler {
	size_t size;
	void (*op)(void *context, size_t index, const struct tenon_op *op, uint64_t begin,
		   uint64_t end);
	void *context;
};

/**
 * tenon_model_open - open the model in an import tree
 * @root: root of an import tree; referenced
 * @options: NULL for all defaults
 * @out: receives the model
 *
 * Parameters in the file are set.
 *
 * Return: 0; -TENON_E_UNSUPPORTED when the root is not a model or this build lacks its executor;
 *	-TENON_E_NOT_FOUND when the file has no model @options->function; -TENON_E_NO_FUNCTION when
 *	the model calls functions that are neither in the file nor registered; -TENON_E_FORMAT,
 *	-TENON_E_TRUNCATED, -TENON_E_OVERFLOW, -TENON_E_CYCLE, -TENON_E_VALUE for an invalid model;
 *	-TENON_E_DEVICE; -TENON_E_NOMEM.
 */
TENON_API int tenon_model_open(struct tenon_module *root, const struct tenon_model_options *options,
			       struct tenon_model **out);

/**
 * tenon_model_open_graph - open a model whose library and graph are separate files
 * @library: module with the functions; referenced
 * @graph: graph.json; copied
 * @params: its parameters, or NULL; referenced if used in place
 * @options: NULL for all defaults; @options->graph and @options->params are replaced
 * @out: receives the model
 *
 * Return: as tenon_model_open().
 */
TENON_API int tenon_model_open_graph(struct tenon_module *library, struct tenon_slice graph,
				     struct tenon_params *params,
				     const struct tenon_model_options *options,
				     struct tenon_model **out);

/** tenon_model_close - free a model; its output tensors stay valid. NULL is allowed. */
TENON_API void tenon_model_close(struct tenon_model *model);

/** tenon_model_kind - name of the executor, which is that of its plug-in: "graph", "aot", "relax" */
TENON_API const char *tenon_model_kind(const struct tenon_model *model);

/** tenon_model_input_count - number of inputs, including parameters */
TENON_API size_t tenon_model_input_count(struct tenon_model *model);

/** tenon_model_output_count - number of outputs; 0 for a Relax model before its first run */
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
 * tenon_model_find_input - find an input by name
 * @model: the model
 * @name: name of the input
 * @index: receives its number
 *
 * Return: 0; -TENON_E_NOT_FOUND, with similar names in the message.
 */
TENON_API int tenon_model_find_input(struct tenon_model *model, struct tenon_slice name,
				     size_t *index);

/** tenon_model_find_output - find an output by name; as tenon_model_find_input() */
TENON_API int tenon_model_find_output(struct tenon_model *model, struct tenon_slice name,
				      size_t *index);

/**
 * tenon_model_input_is_set - test whether an input has a value, as a parameter or set by the caller
 */
TENON_API bool tenon_model_input_is_set(struct tenon_model *model, size_t index);

/**
 * tenon_model_set_input - copy a value into an input
 * @model: the model
 * @index: number of the input
 * @value: a tensor of the input's shape and dtype; a Relax model may take other values
 *
 * Return: 0; -TENON_E_TYPE, -TENON_E_VALUE for a dtype or shape that differs; -TENON_E_USAGE for an
 *	index out of range; -TENON_E_DEVICE; -TENON_E_NOMEM.
 */
TENON_API int tenon_model_set_input(struct tenon_model *model, size_t index,
				    const struct tenon_value *value);

/**
 * tenon_model_bind_input - use a tensor as an input without copying it
 * @model: the model
 * @index: number of the input
 * @tensor: compact and sufficiently aligned (TENON_TENSOR_ALIGN always is); referenced until the
 *	input is set or bound again. Each run reads its current data.
 *
 * Return: as tenon_model_set_input(); also -TENON_E_VALUE for unaligned data.
 */
TENON_API int tenon_model_bind_input(struct tenon_model *model, size_t index,
				     struct tenon_tensor *tensor);

/**
 * tenon_model_set_params - set inputs by name
 * @model: the model
 * @params: parameters; names that match no input are ignored. Referenced if used in place.
 *
 * Names are not strict here, because the parameters of one file may be set in several models, each of which takes its
 * own: the functions of a Relax executable, or the parts of a network that was divided. tenon_model_check_params() says
 * which names no input has.
 *
 * Return: 0; an error of tenon_model_set_input(), with the parameter's name; -TENON_E_UNSUPPORTED
 *	for a model whose inputs have no names.
 */
TENON_API int tenon_model_set_params(struct tenon_model *model, struct tenon_params *params);

/**
 * tenon_model_check_params - compare parameters with the inputs of a model
 * @model: the model
 * @params: parameters
 * @partial: allow names that match no input
 *
 * Before tenon_model_set_params(), which ignores such names. A dtype or an extent that the model
 * leaves open fits all.
 *
 * Return: 0; -TENON_E_VALUE with the parameters whose dtype or shape is not that of their input, and
 *	the names that match none, with the nearest; -TENON_E_NOMEM.
 */
TENON_API int tenon_model_check_params(struct tenon_model *model, struct tenon_params *params,
				       bool partial);

/**
 * tenon_model_run - run the model once
 * @model: the model
 *
 * Context: any thread, one at a time per model.
 * Return: 0; -TENON_E_USAGE for an input that was never set, with its name; -TENON_E_CALL or
 *	another status when an operator failed, with its name; -TENON_E_NO_FUNCTION when compiled
 *	code calls a function that does not exist.
 */
TENON_API int tenon_model_run(struct tenon_model *model);

/**
 * tenon_model_run_profiled - run the model once and report the time of each operator
 * @model: the model
 * @profiler: called after each operator
 *
 * Return: as tenon_model_run(); -TENON_E_USAGE for a @profiler without a size, too.
 */
TENON_API int tenon_model_run_profiled(struct tenon_model *model,
				       const struct tenon_profiler *profiler);

/**
 * tenon_model_output_value - get an output
 * @model: the model
 * @index: number of the output
 * @out: receives an owned value, usually a tensor. Its data may be in the model's storage: it stays
 *	valid, and the next run overwrites it.
 *
 * Return: 0; -TENON_E_USAGE for an index out of range or before the first run; -TENON_E_NOMEM.
 */
TENON_API int tenon_model_output_value(struct tenon_model *model, size_t index,
				       struct tenon_value *out);

/**
 * struct tenon_stream - callbacks of tenon_model_stream()
 * @size: sizeof(struct tenon_stream)
 * @fill: sets the inputs of round @round; returns 0 to continue, 1 to stop, a negative status to
 *	fail
 * @take: reads the outputs; returns as @fill does. May be NULL.
 * @context: passed to both
 */
struct tenon_stream {
	size_t size;
	int (*fill)(void *context, struct tenon_model *model, uint64_t round);
	int (*take)(void *context, struct tenon_model *model, uint64_t round);
	void *context;
};

/**
 * tenon_model_stream - run the model in a loop
 * @model: the model
 * @stream: called before and after each run
 * @rounds: receives the number of complete rounds; may be NULL
 *
 * The loop itself allocates nothing.
 *
 * Return: 0; the error of @stream or of a run, with the round in the message; -TENON_E_USAGE for a
 *	@stream without a size.
 */
TENON_API int tenon_model_stream(struct tenon_model *model, const struct tenon_stream *stream,
				 uint64_t *rounds);

/** tenon_model_memory - memory use of a model; all 0 if it is not known before a run */
TENON_API void tenon_model_memory(struct tenon_model *model, struct tenon_model_memory *out);

/**
 * tenon_model_each_op - visit the operators in execution order
 * @model: the model
 * @visit: called with each; stops when it returns non-zero
 * @context: passed to @visit
 *
 * Return: the result of the last @visit; -TENON_E_UNSUPPORTED for an ahead-of-time compiled model,
 *	which has no list of operators.
 */
TENON_API int tenon_model_each_op(struct tenon_model *model,
				  int (*visit)(void *context, size_t index,
					       const struct tenon_op *op),
				  void *context);

/** tenon_model_value_count - number of values that operators refer to; 0 if not known */
TENON_API size_t tenon_model_value_count(struct tenon_model *model);

/** tenon_model_value_at - describe a value; as tenon_model_input() */
TENON_API int tenon_model_value_at(struct tenon_model *model, size_t index,
				   struct tenon_model_value *out);

#ifdef __cplusplus
}
#endif

#endif /* TENON_MODEL_H */
