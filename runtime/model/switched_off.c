/* SPDX-License-Identifier: MIT */
/* Stubs of public functions that this build leaves out. */
#include <tenon/model.h>
#include <tenon/regions.h>

#include "lib/option.h"
#include "lib/switched_off.h"

/* clang-format off */

#ifndef CONFIG_EXECUTORS
static int off(void)
{
	return tenon_error(-TENON_E_UNSUPPORTED, "no executor of models is in this build");
}

#define OFF_REASON off()
OFF_OUT(tenon_params_open, *out = NULL, (const char *path, struct tenon_params **out))
OFF_OUT(tenon_params_read, *out = NULL, (struct tenon_slice bytes, struct tenon_object *keep,
	const char *name, struct tenon_params **out))
OFF_OUT(tenon_params_create, *out = NULL, (const struct tenon_param *list, size_t count,
	struct tenon_object *keep, struct tenon_params **out))
OFF_VALUE(size_t, tenon_params_count, 0, (const struct tenon_params *params))
OFF_VALUE(const struct tenon_param *, tenon_params_at, NULL, (const struct tenon_params *params,
	size_t index))
OFF_VALUE(const struct tenon_param *, tenon_params_find, NULL, (const struct tenon_params *params,
	struct tenon_slice name))
OFF(tenon_params_load, (struct tenon_params *params, const struct tenon_param *param, void *to))
OFF_OUT(tenon_params_tensor, *out = NULL, (struct tenon_params *params, const struct tenon_param *param,
	size_t align, struct tenon_tensor **out))
OFF_OUT(tenon_model_open, *out = NULL, (struct tenon_module *root,
	const struct tenon_model_options *options, struct tenon_model **out))
OFF_VOID(tenon_model_close, (struct tenon_model *model))
OFF_VALUE(const char *, tenon_model_kind, "none", (const struct tenon_model *model))
OFF_VALUE(size_t, tenon_model_input_count, 0, (struct tenon_model *model))
OFF_VALUE(size_t, tenon_model_output_count, 0, (struct tenon_model *model))
OFF(tenon_model_input, (struct tenon_model *model, size_t index, struct tenon_port *out))
OFF(tenon_model_output, (struct tenon_model *model, size_t index, struct tenon_port *out))
OFF(tenon_model_find_input, (struct tenon_model *model, struct tenon_slice name, size_t *index))
OFF(tenon_model_find_output, (struct tenon_model *model, struct tenon_slice name, size_t *index))
OFF_VALUE(bool, tenon_model_input_is_set, false, (struct tenon_model *model, size_t index))
OFF(tenon_model_set_input, (struct tenon_model *model, size_t index, const struct tenon_value *value))
OFF(tenon_model_bind_input, (struct tenon_model *model, size_t index, struct tenon_tensor *tensor))
OFF(tenon_model_set_params, (struct tenon_model *model, struct tenon_params *params))
OFF(tenon_model_check_params, (struct tenon_model *model, struct tenon_params *params, bool partial))
OFF(tenon_model_run, (struct tenon_model *model))
OFF(tenon_model_run_profiled, (struct tenon_model *model, const struct tenon_profiler *profiler))
OFF(tenon_model_output_value, (struct tenon_model *model, size_t index, struct tenon_value *out))
OFF(tenon_model_stream, (struct tenon_model *model, const struct tenon_stream *stream, uint64_t *rounds))
OFF_VOID(tenon_model_memory, (struct tenon_model *model, struct tenon_model_memory *out))
OFF(tenon_model_each_op, (struct tenon_model *model, int (*visit)(void *context, size_t index,
	const struct tenon_op *op), void *context))
OFF_VALUE(size_t, tenon_model_value_count, 0, (struct tenon_model *model))
OFF(tenon_model_value_at, (struct tenon_model *model, size_t index, struct tenon_model_value *out))
OFF(tenon_model_need, (struct tenon_module *root, const struct tenon_model_options *options,
	struct tenon_need *out))
OFF_OUT(tenon_model_open_in, *out = NULL, (struct tenon_module *root,
	const struct tenon_model_options *options, const struct tenon_regions *regions,
	struct tenon_model **out))
#endif

#if !OPTION_ON(PARAMS_FILES)
OFF_VALUE(const char *, tenon_params_block_type, NULL, (const struct tenon_params *params,
	const struct tenon_param *param))
#undef OFF_REASON
#define OFF_REASON tenon_error(-TENON_E_NO_LOADER, "CONFIG_PARAMS_FILES is off in this build")
OFF_OUT(tenon_params_join, *out = NULL, (const struct tenon_params_part *parts, size_t part_count,
	const struct tenon_params_rename *renames, size_t rename_count, struct tenon_params **out))
OFF_OUT(tenon_params_dequantize, *out = NULL, (struct tenon_params *params, DLDataType dtype,
	struct tenon_params **out))
OFF(tenon_params_metadata, (struct tenon_params *params, tenon_params_visit *visit, void *context))
OFF_OUT(tenon_params_numbers, *out = NULL, (struct tenon_params *params, const struct tenon_param *param, DLDataType dtype,
	struct tenon_tensor **out))
OFF(tenon_params_write, (const char *path, const struct tenon_param *params, size_t count, size_t align))
OFF(tenon_params_save, (const struct tenon_param *params, size_t count, struct tenon_buffer *out))
OFF(tenon_params_write_safetensors, (const char *path, const struct tenon_param *params, size_t count,
	size_t align))
#endif

#if !defined(CONFIG_GRAPH_EXECUTOR) && !defined(CONFIG_GRAPH_EXECUTOR_MODULE)
#undef OFF_REASON
#define OFF_REASON tenon_error(-TENON_E_UNSUPPORTED, "CONFIG_GRAPH_EXECUTOR is off in this build")
OFF_OUT(tenon_model_open_graph, *out = NULL, (struct tenon_module *library, struct tenon_slice graph,
	struct tenon_params *params, const struct tenon_model_options *options, struct tenon_model **out))
#endif
