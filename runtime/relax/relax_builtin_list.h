/* SPDX-License-Identifier: MIT */
/*
 * The global functions of the Relax machine: name and function. The library has what their names begin with, so that
 * a lookup opens the plug-in.
 */
#ifndef RUNTIME_RELAX_RELAX_BUILTIN_LIST_H
#define RUNTIME_RELAX_RELAX_BUILTIN_LIST_H

/* clang-format off */
#define RELAX_BUILTINS_EACH(each) \
	each("vm.builtin.alloc_shape_heap", relax_builtin_alloc_shape_heap) \
	each("vm.builtin.match_shape", relax_builtin_match_shape) \
	each("vm.builtin.make_shape", relax_builtin_make_shape) \
	each("vm.builtin.match_prim_value", relax_builtin_match_prim_value) \
	each("vm.builtin.make_prim_value", relax_builtin_make_prim_value) \
	each("vm.builtin.check_tensor_info", relax_builtin_check_tensor_info) \
	each("vm.builtin.check_shape_info", relax_builtin_check_shape_info) \
	each("vm.builtin.check_prim_value_info", relax_builtin_check_prim_value_info) \
	each("vm.builtin.check_string_info", relax_builtin_check_string_info) \
	each("vm.builtin.check_tuple_info", relax_builtin_check_tuple_info) \
	each("vm.builtin.check_func_info", relax_builtin_check_func_info) \
	each("vm.builtin.alloc_storage", relax_builtin_alloc_storage) \
	each("vm.builtin.alloc_tensor", relax_builtin_alloc_tensor) \
	each("vm.builtin.null_value", relax_builtin_null_value) \
	each("vm.builtin.copy", relax_builtin_copy) \
	each("vm.builtin.shape_of", relax_builtin_shape_of) \
	each("vm.builtin.reshape", relax_builtin_reshape) \
	each("vm.builtin.to_device", relax_builtin_to_device) \
	each("vm.builtin.tensor_to_shape", relax_builtin_tensor_to_shape) \
	each("vm.builtin.ensure_zero_offset", relax_builtin_ensure_zero_offset) \
	each("vm.builtin.read_if_cond", relax_builtin_read_if_cond) \
	each("vm.builtin.make_tuple", relax_builtin_make_tuple) \
	each("vm.builtin.tuple_getitem", relax_builtin_tuple_getitem) \
	each("vm.builtin.tuple_reset_item", relax_builtin_tuple_reset_item) \
	each("vm.builtin.make_closure", relax_builtin_make_closure) \
	each("vm.builtin.invoke_closure", relax_builtin_invoke_closure) \
	each("vm.builtin.call_tir_dyn", relax_builtin_call_tir_dyn) \
	each("vm.builtin.invoke_debug_func", relax_builtin_invoke_debug_func) \
	each("vm.builtin.cuda_graph.run_or_capture", relax_builtin_graph_run_or_capture) \
	each("vm.builtin.cuda_graph.get_cached_alloc", relax_builtin_graph_get_cached_alloc) \
	each("tvm.contrib.sort.sort", relax_builtin_sort) \
	each("tvm.contrib.sort.argsort", relax_builtin_argsort) \
	each("tvm.contrib.sort.argsort_nms", relax_builtin_argsort_nms) \
	each("tvm.contrib.sort.topk", relax_builtin_topk) \
	each("tvm.contrib.random.normal", relax_builtin_random_normal) \
	each("tvm.contrib.random.uniform", relax_builtin_random_uniform) \
	each("tvm.contrib.random.randint", relax_builtin_random_randint) \
	each("tvm.contrib.random.random_fill", relax_builtin_random_fill) \
	each("tvm.contrib.random.random_fill_for_measure", relax_builtin_random_fill_for_measure) \
	each("vm.builtin.debug_print", relax_builtin_debug_print) \
	each("vm.builtin.memory_manager.clear", relax_builtin_memory_manager_clear) \
	each("vm.builtin.register_py_func", relax_builtin_register_py_func) \
	each("vm.builtin.get_py_func", relax_builtin_get_py_func) \
	each("vm.builtin.clear_py_func_registry", relax_builtin_clear_py_func_registry) \
	each("vm.builtin.call_py_func", relax_builtin_call_py_func) \
	each("runtime.TVMTensorCreateView", relax_builtin_tensor_view) \
	each("relax.run.nonzero", relax_builtin_nonzero) \
	each("relax.run.unique", relax_builtin_unique) \
	each("relax.run.print", relax_builtin_print) \
	each("relax.run.assert_op", relax_builtin_assert_op) \
	each("relax.run.shape_to_tensor", relax_builtin_shape_to_tensor)

/* what only language models call */
#define RELAX_LANGUAGE_BUILTINS_EACH(each) \
	each("vm.builtin.sample_top_p_from_logits", relax_builtin_sample_top_p_from_logits) \
	each("vm.builtin.sample_top_p_from_prob", relax_builtin_sample_top_p_from_prob) \
	each("vm.builtin.multinomial_from_uniform", relax_builtin_multinomial_from_uniform) \
	each("vm.builtin.apply_repetition_penalty", relax_builtin_apply_repetition_penalty) \
	each("vm.builtin.apply_presence_and_frequency_penalty", relax_builtin_apply_presence_and_frequency_penalty) \
	each("vm.builtin.apply_softmax_with_temperature", relax_builtin_apply_softmax_with_temperature) \
	each("vm.builtin.attention_kv_cache_create", relax_builtin_attention_kv_cache_create) \
	each("vm.builtin.attention_kv_cache_append", relax_builtin_attention_kv_cache_append) \
	each("vm.builtin.attention_kv_cache_update", relax_builtin_attention_kv_cache_update) \
	each("vm.builtin.attention_kv_cache_view", relax_builtin_attention_kv_cache_view) \
	each("vm.builtin.attention_kv_cache_window_override", relax_builtin_attention_kv_cache_window_override) \
	each("vm.builtin.attention_kv_cache_window_override_with_sinks", relax_builtin_attention_kv_cache_window_override_with_sinks) \
	each("vm.builtin.attention_kv_cache_array_popn", relax_builtin_attention_kv_cache_array_popn) \
	each("vm.builtin.attention_kv_cache_array_clear", relax_builtin_attention_kv_cache_array_clear) \
	each("vm.builtin.tensor_cache.load", relax_builtin_tensor_cache_load) \
	each("vm.builtin.ndarray_cache.load", relax_builtin_tensor_cache_load) \
	each("vm.builtin.tensor_cache.get", relax_builtin_tensor_cache_get) \
	each("vm.builtin.ndarray_cache.get", relax_builtin_tensor_cache_get) \
	each("vm.builtin.tensor_cache.update", relax_builtin_tensor_cache_update) \
	each("vm.builtin.ndarray_cache.update", relax_builtin_tensor_cache_update) \
	each("vm.builtin.tensor_cache.remove", relax_builtin_tensor_cache_remove) \
	each("vm.builtin.ndarray_cache.remove", relax_builtin_tensor_cache_remove) \
	each("vm.builtin.tensor_cache.clear", relax_builtin_tensor_cache_clear) \
	each("vm.builtin.ndarray_cache.clear", relax_builtin_tensor_cache_clear) \
	each("vm.builtin.param_array_from_cache_by_name", relax_builtin_param_array_from_cache_by_name) \
	each("vm.builtin.param_array_from_cache_by_name_unpacked", relax_builtin_param_array_from_cache_by_name_unpacked) \
	each("vm.builtin.param_array_from_cache", relax_builtin_param_array_from_cache) \
	each("vm.builtin.param_module_from_cache_by_name", relax_builtin_param_module_from_cache_by_name) \
	each("vm.builtin.param_module_from_cache", relax_builtin_param_module_from_cache) \
	each("vm.builtin.paged_attention_kv_cache_create", relax_builtin_paged_attention_kv_cache_create) \
	each("vm.builtin.rnn_state_create", relax_builtin_rnn_state_create) \
	each("vm.builtin.kv_state_clear", relax_builtin_kv_state_clear) \
	each("vm.builtin.kv_state_add_sequence", relax_builtin_kv_state_add_sequence) \
	each("vm.builtin.kv_state_remove_sequence", relax_builtin_kv_state_remove_sequence) \
	each("vm.builtin.kv_state_fork_sequence", relax_builtin_kv_state_fork_sequence) \
	each("vm.builtin.kv_state_popn", relax_builtin_kv_state_popn) \
	each("vm.builtin.kv_state_begin_forward", relax_builtin_kv_state_begin_forward) \
	each("vm.builtin.kv_state_end_forward", relax_builtin_kv_state_end_forward) \
	each("vm.builtin.attention_kv_cache_enable_sliding_window_for_seq", relax_builtin_attention_kv_cache_enable_sliding_window_for_seq) \
	each("vm.builtin.attention_kv_cache_commit_accepted_token_tree_nodes", relax_builtin_attention_kv_cache_commit_accepted_token_tree_nodes) \
	each("vm.builtin.attention_kv_cache_empty", relax_builtin_attention_kv_cache_empty) \
	each("vm.builtin.attention_kv_cache_get_num_available_pages", relax_builtin_attention_kv_cache_get_num_available_pages) \
	each("vm.builtin.attention_kv_cache_get_total_sequence_length", relax_builtin_attention_kv_cache_get_total_sequence_length) \
	each("vm.builtin.attention_kv_cache_get_sequence_length", relax_builtin_attention_kv_cache_get_sequence_length) \
	each("vm.builtin.attention_kv_cache_get_checkpoint_metadata", relax_builtin_attention_kv_cache_get_checkpoint_metadata) \
	each("vm.builtin.attention_kv_cache_get_layout_hash", relax_builtin_attention_kv_cache_get_layout_hash) \
	each("vm.builtin.attention_kv_cache_export_page_group", relax_builtin_attention_kv_cache_export_page_group) \
	each("vm.builtin.attention_kv_cache_prepare_import", relax_builtin_attention_kv_cache_prepare_import) \
	each("vm.builtin.attention_kv_cache_import_page_group", relax_builtin_attention_kv_cache_import_page_group) \
	each("vm.builtin.attention_kv_cache_finish_import", relax_builtin_attention_kv_cache_finish_import) \
	each("vm.builtin.kv_cache_disagg_prepare_recv", relax_builtin_kv_cache_disagg_prepare_recv) \
	each("vm.builtin.kv_cache_disagg_mark_send", relax_builtin_kv_cache_disagg_mark_send) \
	each("vm.builtin.attention_kv_cache_get_query_positions", relax_builtin_attention_kv_cache_get_query_positions) \
	each("vm.builtin.attention_kv_cache_attention_with_fused_qkv", relax_builtin_attention_kv_cache_attention_with_fused_qkv) \
	each("tenon.attention_kv_cache_attention_with_fused_qkv", relax_builtin_attention_kv_cache_attention_with_fused_qkv) \
	each("vm.builtin.attention_kv_cache_attention_with_shared_kv", relax_builtin_attention_kv_cache_attention_with_shared_kv) \
	each("vm.builtin.attention_kv_cache_self_attention", relax_builtin_attention_kv_cache_self_attention) \
	each("vm.builtin.attention_kv_cache_cross_attention", relax_builtin_attention_kv_cache_cross_attention) \
	each("vm.builtin.attention_kv_cache_append_mla_kv", relax_builtin_attention_kv_cache_append_mla_kv) \
	each("vm.builtin.attention_kv_cache_merge_attn_output_inplace", relax_builtin_attention_kv_cache_merge_attn_output_inplace) \
	each("vm.builtin.attention_kv_cache_debug_get_kv", relax_builtin_attention_kv_cache_debug_get_kv) \
	each("vm.builtin.attention_kv_cache_debug_get_kv_mla", relax_builtin_attention_kv_cache_debug_get_kv_mla) \
	each("vm.builtin.rnn_state_get", relax_builtin_rnn_state_get) \
	each("vm.builtin.rnn_state_set", relax_builtin_rnn_state_set) \
	each("vm.builtin.rnn_state_debug_get", relax_builtin_rnn_state_debug_get)

/* beginnings of these names, or names */
#define RELAX_NAMES \
	"vm.builtin.\0tvm.contrib.sort.\0tvm.contrib.random.\0relax.run.\0runtime.TVMTensorCreateView\0" \
	"tenon.attention_kv_cache_attention_with_fused_qkv\0"

/* those of this build */
#ifdef CONFIG_LANGUAGE_MODELS
#define RELAX_FUNCTIONS(each) RELAX_BUILTINS_EACH(each) RELAX_LANGUAGE_BUILTINS_EACH(each)
#else
#define RELAX_FUNCTIONS RELAX_BUILTINS_EACH
#endif
/* clang-format on */

#endif /* RUNTIME_RELAX_RELAX_BUILTIN_LIST_H */
