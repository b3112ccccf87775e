/* SPDX-License-Identifier: MIT */
/* Builtins and the checks of their arguments. */
#ifndef RUNTIME_RELAX_RELAX_BUILTIN_H
#define RUNTIME_RELAX_RELAX_BUILTIN_H

/*
 * The functions `vm.builtin.*` that compiled Relax programs call. They are global functions, since
 * native functions call them by name. They check all arguments: a program may pass anything.
 */

#include <tenon/array.h>
#include <tenon/function.h>
#include <tenon/string.h>
#include <tenon/tensor.h>

struct relax_vm;
struct relax_storage;

#define RELAX_BUILTIN(name)                                                                        \
	int relax_builtin_##name(void *self, const struct tenon_value *args, int32_t count,        \
				 struct tenon_value *ret)

/* relax_builtin_shape.c */
RELAX_BUILTIN(alloc_shape_heap);
RELAX_BUILTIN(match_shape);
RELAX_BUILTIN(make_shape);
RELAX_BUILTIN(match_prim_value);
RELAX_BUILTIN(make_prim_value);
/* relax_builtin_check.c */
RELAX_BUILTIN(check_tensor_info);
RELAX_BUILTIN(check_shape_info);
RELAX_BUILTIN(check_prim_value_info);
RELAX_BUILTIN(check_string_info);
RELAX_BUILTIN(check_tuple_info);
RELAX_BUILTIN(check_func_info);
/* relax_builtin_memory.c */
RELAX_BUILTIN(alloc_storage);
RELAX_BUILTIN(alloc_tensor);
RELAX_BUILTIN(null_value);
RELAX_BUILTIN(memory_manager_clear);
RELAX_BUILTIN(copy);
/* relax_builtin_tensor.c */
RELAX_BUILTIN(shape_of);
RELAX_BUILTIN(reshape);
RELAX_BUILTIN(tensor_view);
RELAX_BUILTIN(to_device);
RELAX_BUILTIN(tensor_to_shape);
RELAX_BUILTIN(ensure_zero_offset);
RELAX_BUILTIN(read_if_cond);
/* relax_builtin_tuple.c */
RELAX_BUILTIN(make_tuple);
RELAX_BUILTIN(tuple_getitem);
RELAX_BUILTIN(tuple_reset_item);
/* relax_builtin_closure.c */
RELAX_BUILTIN(make_closure);
RELAX_BUILTIN(invoke_closure);
RELAX_BUILTIN(call_tir_dyn);
RELAX_BUILTIN(invoke_debug_func);

/* relax_builtin_sort.c: tvm.contrib.sort.* */
RELAX_BUILTIN(sort);
RELAX_BUILTIN(argsort);
RELAX_BUILTIN(argsort_nms);
RELAX_BUILTIN(topk);
/* relax_builtin_random.c: tvm.contrib.random.* */
RELAX_BUILTIN(random_normal);
RELAX_BUILTIN(random_uniform);
RELAX_BUILTIN(random_randint);
RELAX_BUILTIN(random_fill);
RELAX_BUILTIN(random_fill_for_measure);
/* relax_builtin_python.c */
RELAX_BUILTIN(register_py_func);
RELAX_BUILTIN(get_py_func);
RELAX_BUILTIN(clear_py_func_registry);
RELAX_BUILTIN(call_py_func);
/* relax_builtin_unique.c, relax_builtin_print.c: relax.run.* */
RELAX_BUILTIN(nonzero);
RELAX_BUILTIN(unique);
RELAX_BUILTIN(print);
RELAX_BUILTIN(debug_print);
RELAX_BUILTIN(assert_op);
RELAX_BUILTIN(shape_to_tensor);
/* relax_builtin_graph.c: vm.builtin.cuda_graph.* */
RELAX_BUILTIN(graph_run_or_capture);
RELAX_BUILTIN(graph_get_cached_alloc);
/* relax_builtin_sample.c */
RELAX_BUILTIN(sample_top_p_from_logits);
RELAX_BUILTIN(sample_top_p_from_prob);
RELAX_BUILTIN(multinomial_from_uniform);
RELAX_BUILTIN(apply_repetition_penalty);
RELAX_BUILTIN(apply_presence_and_frequency_penalty);
RELAX_BUILTIN(apply_softmax_with_temperature);
/* relax_builtin_cache.c */
RELAX_BUILTIN(attention_kv_cache_create);
RELAX_BUILTIN(attention_kv_cache_append);
RELAX_BUILTIN(attention_kv_cache_update);
RELAX_BUILTIN(attention_kv_cache_view);
RELAX_BUILTIN(attention_kv_cache_window_override);
RELAX_BUILTIN(attention_kv_cache_window_override_with_sinks);
RELAX_BUILTIN(attention_kv_cache_array_popn);
RELAX_BUILTIN(attention_kv_cache_array_clear);
/* relax_builtin_weights.c */
RELAX_BUILTIN(tensor_cache_load);
RELAX_BUILTIN(tensor_cache_get);
RELAX_BUILTIN(tensor_cache_update);
RELAX_BUILTIN(tensor_cache_remove);
RELAX_BUILTIN(tensor_cache_clear);
RELAX_BUILTIN(param_array_from_cache_by_name);
RELAX_BUILTIN(param_array_from_cache_by_name_unpacked);
RELAX_BUILTIN(param_array_from_cache);
RELAX_BUILTIN(param_module_from_cache_by_name);
RELAX_BUILTIN(param_module_from_cache);
/* relax_builtin_kv.c, relax_builtin_kv_create.c, relax_builtin_kv_state.c, relax_builtin_rnn.c */
RELAX_BUILTIN(paged_attention_kv_cache_create);
RELAX_BUILTIN(rnn_state_create);
RELAX_BUILTIN(kv_state_clear);
RELAX_BUILTIN(kv_state_add_sequence);
RELAX_BUILTIN(kv_state_remove_sequence);
RELAX_BUILTIN(kv_state_fork_sequence);
RELAX_BUILTIN(kv_state_popn);
RELAX_BUILTIN(kv_state_begin_forward);
RELAX_BUILTIN(kv_state_end_forward);
RELAX_BUILTIN(attention_kv_cache_enable_sliding_window_for_seq);
RELAX_BUILTIN(attention_kv_cache_commit_accepted_token_tree_nodes);
RELAX_BUILTIN(attention_kv_cache_empty);
RELAX_BUILTIN(attention_kv_cache_get_num_available_pages);
RELAX_BUILTIN(attention_kv_cache_get_total_sequence_length);
RELAX_BUILTIN(attention_kv_cache_get_sequence_length);
RELAX_BUILTIN(attention_kv_cache_get_checkpoint_metadata);
RELAX_BUILTIN(attention_kv_cache_get_layout_hash);
RELAX_BUILTIN(attention_kv_cache_export_page_group);
RELAX_BUILTIN(attention_kv_cache_prepare_import);
RELAX_BUILTIN(attention_kv_cache_import_page_group);
RELAX_BUILTIN(attention_kv_cache_finish_import);
RELAX_BUILTIN(kv_cache_disagg_prepare_recv);
RELAX_BUILTIN(kv_cache_disagg_mark_send);
RELAX_BUILTIN(attention_kv_cache_get_query_positions);
RELAX_BUILTIN(attention_kv_cache_attention_with_fused_qkv);
RELAX_BUILTIN(attention_kv_cache_attention_with_shared_kv);
RELAX_BUILTIN(attention_kv_cache_self_attention);
RELAX_BUILTIN(attention_kv_cache_cross_attention);
RELAX_BUILTIN(attention_kv_cache_append_mla_kv);
RELAX_BUILTIN(attention_kv_cache_merge_attn_output_inplace);
RELAX_BUILTIN(attention_kv_cache_debug_get_kv);
RELAX_BUILTIN(attention_kv_cache_debug_get_kv_mla);
RELAX_BUILTIN(rnn_state_get);
RELAX_BUILTIN(rnn_state_set);
RELAX_BUILTIN(rnn_state_debug_get);

/* relax_argument.c: the arguments of a builtin. Errors name the builtin and the argument. */

struct relax_arguments {
	const char *name; /* without "vm.builtin." */
	const struct tenon_value *args;
	int32_t count;
};

/* Check that there are at least @least and at most @most (-1: any number) arguments. */
int relax_arguments_count(const struct relax_arguments *a, int32_t least, int32_t most);
int relax_argument_int(const struct relax_arguments *a, int32_t i, int64_t *out);
/* Get an integer from @least to @most. */
int relax_argument_range(const struct relax_arguments *a, int32_t i, int64_t least, int64_t most,
			 int64_t *out);
/* Get a number; integers are converted. */
int relax_argument_float(const struct relax_arguments *a, int32_t i, double *out);
int relax_argument_text(const struct relax_arguments *a, int32_t i, struct tenon_slice *out);
int relax_argument_function(const struct relax_arguments *a, int32_t i,
			    struct tenon_function **out);
/* Get an object of the type @type; @what is its name in messages, @out a pointer to a pointer. */
int relax_argument_object(const struct relax_arguments *a, int32_t i, int32_t type,
			  const char *what, void *out);
/* Get a compact tensor in host memory whose size in bytes does not overflow. */
int relax_argument_host_tensor(const struct relax_arguments *a, int32_t i, DLTensor **out);
/* Prepend builtin and argument to the error @status; returns it. */
int relax_argument_refuse(const struct relax_arguments *a, int32_t i, int status);
int relax_argument_dtype(const struct relax_arguments *a, int32_t i, DLDataType *out);
int relax_argument_shape(const struct relax_arguments *a, int32_t i, struct tenon_shape **out);
/* Get a tensor on any device. */
int relax_argument_any_tensor(const struct relax_arguments *a, int32_t i, DLTensor **out);
/* Get the tensor object of an argument, which can be referenced. */
int relax_argument_tensor_object(const struct relax_arguments *a, int32_t i,
				 struct tenon_tensor **out);
int relax_argument_array(const struct relax_arguments *a, int32_t i, struct tenon_array **out);
/* Get the machine, which must be the one that the thread runs. */
int relax_argument_machine(const struct relax_arguments *a, int32_t i, struct relax_vm **out);
int relax_argument_storage(const struct relax_arguments *a, int32_t i, struct relax_storage **out);

/*
 * Get the compiler's prefix for messages: the function and parameter that a check is for. None and
 * other types count as "".
 */
struct tenon_slice relax_argument_context(const struct relax_arguments *a, int32_t i);

/* Address of the first element of a CPU tensor; byte_offset is in bytes. */
static inline void *relax_tensor_data(const DLTensor *t)
{
	return (char *)t->data + t->byte_offset;
}

#endif /* RUNTIME_RELAX_RELAX_BUILTIN_H */
