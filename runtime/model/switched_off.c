/* SPDX-License-Identifier: MIT */
/* Stubs of public functions that this build leaves out. */
#include <tenon/model.h>

#include "lib/brief_errors.h"

#ifndef CONFIG_EXECUTORS
static int off(void)
{
	return tenon_error(-TENON_E_UNSUPPORTED, "no executor of models is in this build");
}

int tenon_params_open(const char *path, struct tenon_params **out)
{
	(void)path;
	*out = NULL;
	return off();
}

int tenon_params_read(struct tenon_slice bytes, struct tenon_object *keep, const char *name,
		      struct tenon_params **out)
{
	(void)bytes;
	(void)keep;
	(void)name;
	*out = NULL;
	return off();
}

int tenon_params_create(const struct tenon_param *list, size_t count, struct tenon_object *keep,
			struct tenon_params **out)
{
	(void)list;
	(void)count;
	(void)keep;
	*out = NULL;
	return off();
}

int tenon_params_join(const struct tenon_params_part *parts, size_t part_count,
		      const struct tenon_params_rename *renames, size_t rename_count,
		      struct tenon_params **out)
{
	(void)parts;
	(void)part_count;
	(void)renames;
	(void)rename_count;
	*out = NULL;
	return off();
}

size_t tenon_params_count(const struct tenon_params *params)
{
	(void)params;
	return 0;
}

const struct tenon_param *tenon_params_at(const struct tenon_params *params, size_t index)
{
	(void)params;
	(void)index;
	return NULL;
}

const struct tenon_param *tenon_params_find(const struct tenon_params *params,
					    struct tenon_slice name)
{
	(void)params;
	(void)name;
	return NULL;
}

int tenon_params_load(struct tenon_params *params, const struct tenon_param *param, void *to)
{
	(void)params;
	(void)param;
	(void)to;
	return off();
}

int tenon_params_tensor(struct tenon_params *params, const struct tenon_param *param, size_t align,
			struct tenon_tensor **out)
{
	(void)params;
	(void)param;
	(void)align;
	*out = NULL;
	return off();
}

int tenon_executors_register(void)
{
	return 0;
}

int tenon_model_open(struct tenon_module *root, const struct tenon_model_options *options,
		     struct tenon_model **out)
{
	(void)root;
	(void)options;
	*out = NULL;
	return off();
}

void tenon_model_close(struct tenon_model *model)
{
	(void)model;
}

const char *tenon_model_kind(const struct tenon_model *model)
{
	(void)model;
	return "none";
}

size_t tenon_model_input_count(struct tenon_model *model)
{
	(void)model;
	return 0;
}

size_t tenon_model_output_count(struct tenon_model *model)
{
	(void)model;
	return 0;
}

int tenon_model_input(struct tenon_model *model, size_t index, struct tenon_port *out)
{
	(void)model;
	(void)index;
	(void)out;
	return off();
}

int tenon_model_output(struct tenon_model *model, size_t index, struct tenon_port *out)
{
	(void)model;
	(void)index;
	(void)out;
	return off();
}

int tenon_model_find_input(struct tenon_model *model, struct tenon_slice name, size_t *index)
{
	(void)model;
	(void)name;
	(void)index;
	return off();
}

int tenon_model_find_output(struct tenon_model *model, struct tenon_slice name, size_t *index)
{
	(void)model;
	(void)name;
	(void)index;
	return off();
}

bool tenon_model_input_is_set(struct tenon_model *model, size_t index)
{
	(void)model;
	(void)index;
	return false;
}

int tenon_model_set_input(struct tenon_model *model, size_t index, const struct tenon_value *value)
{
	(void)model;
	(void)index;
	(void)value;
	return off();
}

int tenon_model_bind_input(struct tenon_model *model, size_t index, struct tenon_tensor *tensor)
{
	(void)model;
	(void)index;
	(void)tensor;
	return off();
}

int tenon_model_set_params(struct tenon_model *model, struct tenon_params *params)
{
	(void)model;
	(void)params;
	return off();
}

int tenon_model_check_params(struct tenon_model *model, struct tenon_params *params, bool partial)
{
	(void)model;
	(void)params;
	(void)partial;
	return off();
}

int tenon_model_run(struct tenon_model *model)
{
	(void)model;
	return off();
}

int tenon_model_run_profiled(struct tenon_model *model, const struct tenon_profiler *profiler)
{
	(void)model;
	(void)profiler;
	return off();
}

int tenon_model_output_value(struct tenon_model *model, size_t index, struct tenon_value *out)
{
	(void)model;
	(void)index;
	(void)out;
	return off();
}

int tenon_model_stream(struct tenon_model *model, const struct tenon_stream *stream,
		       uint64_t *rounds)
{
	(void)model;
	(void)stream;
	(void)rounds;
	return off();
}

void tenon_model_memory(struct tenon_model *model, struct tenon_model_memory *out)
{
	(void)model;
	(void)out;
}

int tenon_model_each_op(struct tenon_model *model,
			int (*visit)(void *context, size_t index, const struct tenon_op *op),
			void *context)
{
	(void)model;
	(void)visit;
	(void)context;
	return off();
}

size_t tenon_model_value_count(struct tenon_model *model)
{
	(void)model;
	return 0;
}

int tenon_model_value_at(struct tenon_model *model, size_t index, struct tenon_model_value *out)
{
	(void)model;
	(void)index;
	(void)out;
	return off();
}
#endif

#if !defined(CONFIG_EXECUTORS) || !defined(CONFIG_MODULE_WRITE)
int tenon_params_write(const char *path, const struct tenon_param *params, size_t count,
		       size_t align)
{
	(void)path;
	(void)params;
	(void)count;
	(void)align;
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "this build has no executor of models, or CONFIG_MODULE_WRITE is off");
}

int tenon_params_save(const struct tenon_param *params, size_t count, struct tenon_buffer *out)
{
	(void)out;
	return tenon_params_write("", params, count, 0);
}
#endif

#ifndef CONFIG_GGUF
const char *tenon_params_block_type(const struct tenon_params *params,
				    const struct tenon_param *param)
{
	(void)params;
	(void)param;
	return NULL;
}

int tenon_params_dequantize(struct tenon_params *params, DLDataType dtype,
			    struct tenon_params **out)
{
	(void)params;
	(void)dtype;
	*out = NULL;
	return tenon_error(-TENON_E_UNSUPPORTED, "CONFIG_GGUF is off in this build");
}
#endif

#if !defined(CONFIG_SAFETENSORS) || !defined(CONFIG_MODULE_WRITE)
int tenon_params_write_safetensors(const char *path, const struct tenon_param *params, size_t count,
				   size_t align)
{
	(void)path;
	(void)params;
	(void)count;
	(void)align;
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "CONFIG_SAFETENSORS or CONFIG_MODULE_WRITE is off in this build");
}
#endif

#if !defined(CONFIG_GRAPH_EXECUTOR) && !defined(CONFIG_GRAPH_EXECUTOR_MODULE)
int tenon_model_open_graph(struct tenon_module *library, struct tenon_slice graph,
			   struct tenon_params *params, const struct tenon_model_options *options,
			   struct tenon_model **out)
{
	(void)library;
	(void)graph;
	(void)params;
	(void)options;
	*out = NULL;
	return tenon_error(-TENON_E_UNSUPPORTED, "CONFIG_GRAPH_EXECUTOR is off in this build");
}
#endif
