/* SPDX-License-Identifier: MIT */
/*
 * The global functions of the Relax machine: name, and function without "relax_builtin_". The
 * library has the names too, so that a lookup opens the plug-in.
 */
#ifndef RUNTIME_RELAX_RELAX_BUILTIN_LIST_H
#define RUNTIME_RELAX_RELAX_BUILTIN_LIST_H

/* clang-format off */
#define RELAX_BUILTINS_EACH(each) \
	each("vm.builtin.alloc_shape_heap", alloc_shape_heap) \
	each("vm.builtin.match_shape", match_shape) \
	each("vm.builtin.make_shape", make_shape) \
	each("vm.builtin.match_prim_value", match_prim_value) \
	each("vm.builtin.make_prim_value", make_prim_value) \
	each("vm.builtin.check_tensor_info", check_tensor_info) \
	each("vm.builtin.check_shape_info", check_shape_info) \
	each("vm.builtin.check_prim_value_info", check_prim_value_info) \
	each("vm.builtin.check_string_info", check_string_info) \
	each("vm.builtin.check_tuple_info", check_tuple_info) \
	each("vm.builtin.check_func_info", check_func_info) \
	each("vm.builtin.alloc_storage", alloc_storage) \
	each("vm.builtin.alloc_tensor", alloc_tensor) \
	each("vm.builtin.null_value", null_value) \
	each("vm.builtin.copy", copy) \
	each("vm.builtin.shape_of", shape_of) \
	each("vm.builtin.reshape", reshape) \
	each("vm.builtin.to_device", to_device) \
	each("vm.builtin.tensor_to_shape", tensor_to_shape) \
	each("vm.builtin.ensure_zero_offset", ensure_zero_offset) \
	each("vm.builtin.read_if_cond", read_if_cond) \
	each("vm.builtin.make_tuple", make_tuple) \
	each("vm.builtin.tuple_getitem", tuple_getitem) \
	each("vm.builtin.tuple_reset_item", tuple_reset_item) \
	each("vm.builtin.make_closure", make_closure) \
	each("vm.builtin.invoke_closure", invoke_closure) \
	each("vm.builtin.call_tir_dyn", call_tir_dyn) \
	each("vm.builtin.invoke_debug_func", invoke_debug_func) \
	each("vm.builtin.cuda_graph.run_or_capture", graph_run_or_capture) \
	each("vm.builtin.cuda_graph.get_cached_alloc", graph_get_cached_alloc) \
	each("tvm.contrib.sort.sort", sort) \
	each("tvm.contrib.sort.argsort", argsort) \
	each("tvm.contrib.sort.argsort_nms", argsort_nms) \
	each("tvm.contrib.sort.topk", topk) \
	each("tvm.contrib.random.normal", random_normal) \
	each("tvm.contrib.random.uniform", random_uniform) \
	each("tvm.contrib.random.randint", random_randint) \
	each("tvm.contrib.random.random_fill", random_fill) \
	each("tvm.contrib.random.random_fill_for_measure", random_fill_for_measure) \
	each("vm.builtin.debug_print", debug_print) \
	each("vm.builtin.memory_manager.clear", memory_manager_clear) \
	each("vm.builtin.register_py_func", register_py_func) \
	each("vm.builtin.get_py_func", get_py_func) \
	each("vm.builtin.clear_py_func_registry", clear_py_func_registry) \
	each("vm.builtin.call_py_func", call_py_func) \
	each("runtime.TVMTensorCreateView", tensor_view) \
	each("relax.run.nonzero", nonzero) \
	each("relax.run.unique", unique) \
	each("relax.run.print", print) \
	each("relax.run.assert_op", assert_op) \
	each("relax.run.shape_to_tensor", shape_to_tensor)

/* what only language models call */
#define RELAX_LANGUAGE_BUILTINS_EACH(each) \
	each("vm.builtin.sample_top_p_from_logits", sample_top_p_from_logits) \
	each("vm.builtin.sample_top_p_from_prob", sample_top_p_from_prob) \
	each("vm.builtin.multinomial_from_uniform", multinomial_from_uniform) \
	each("vm.builtin.apply_repetition_penalty", apply_repetition_penalty) \
	each("vm.builtin.apply_presence_and_frequency_penalty", apply_presence_and_frequency_penalty) \
	each("vm.builtin.apply_softmax_with_temperature", apply_softmax_with_temperature) \
	each("vm.builtin.attention_kv_cache_create", attention_kv_cache_create) \
	each("vm.builtin.attention_kv_cache_append", attention_kv_cache_append) \
	each("vm.builtin.attention_kv_cache_update", attention_kv_cache_update) \
	each("vm.builtin.attention_kv_cache_view", attention_kv_cache_view) \
	each("vm.builtin.attention_kv_cache_window_override", attention_kv_cache_window_override) \
	each("vm.builtin.attention_kv_cache_window_override_with_sinks", attention_kv_cache_window_override_with_sinks) \
	each("vm.builtin.attention_kv_cache_array_popn", attention_kv_cache_array_popn) \
	each("vm.builtin.attention_kv_cache_array_clear", attention_kv_cache_array_clear) \
	each("vm.builtin.tensor_cache.load", tensor_cache_load) \
	each("vm.builtin.ndarray_cache.load", tensor_cache_load) \
	each("vm.builtin.tensor_cache.get", tensor_cache_get) \
	each("vm.builtin.ndarray_cache.get", tensor_cache_get) \
	each("vm.builtin.tensor_cache.update", tensor_cache_update) \
	each("vm.builtin.ndarray_cache.update", tensor_cache_update) \
	each("vm.builtin.tensor_cache.remove", tensor_cache_remove) \
	each("vm.builtin.ndarray_cache.remove", tensor_cache_remove) \
	each("vm.builtin.tensor_cache.clear", tensor_cache_clear) \
	each("vm.builtin.ndarray_cache.clear", tensor_cache_clear) \
	each("vm.builtin.param_array_from_cache_by_name", param_array_from_cache_by_name) \
	each("vm.builtin.param_array_from_cache_by_name_unpacked", param_array_from_cache_by_name_unpacked) \
	each("vm.builtin.param_array_from_cache", param_array_from_cache) \
	each("vm.builtin.param_module_from_cache_by_name", param_module_from_cache_by_name) \
	each("vm.builtin.param_module_from_cache", param_module_from_cache) \
	each("vm.builtin.paged_attention_kv_cache_create", paged_attention_kv_cache_create) \
	each("vm.builtin.rnn_state_create", rnn_state_create) \
	each("vm.builtin.kv_state_clear", kv_state_clear) \
	each("vm.builtin.kv_state_add_sequence", kv_state_add_sequence) \
	each("vm.builtin.kv_state_remove_sequence", kv_state_remove_sequence) \
	each("vm.builtin.kv_state_fork_sequence", kv_state_fork_sequence) \
	each("vm.builtin.kv_state_popn", kv_state_popn) \
	each("vm.builtin.kv_state_begin_forward", kv_state_begin_forward) \
	each("vm.builtin.kv_state_end_forward", kv_state_end_forward) \
	each("vm.builtin.attention_kv_cache_enable_sliding_window_for_seq", attention_kv_cache_enable_sliding_window_for_seq) \
	each("vm.builtin.attention_kv_cache_commit_accepted_token_tree_nodes", attention_kv_cache_commit_accepted_token_tree_nodes) \
	each("vm.builtin.attention_kv_cache_empty", attention_kv_cache_empty) \
	each("vm.builtin.attention_kv_cache_get_num_available_pages", attention_kv_cache_get_num_available_pages) \
	each("vm.builtin.attention_kv_cache_get_total_sequence_length", attention_kv_cache_get_total_sequence_length) \
	each("vm.builtin.attention_kv_cache_get_sequence_length", attention_kv_cache_get_sequence_length) \
	each("vm.builtin.attention_kv_cache_get_checkpoint_metadata", attention_kv_cache_get_checkpoint_metadata) \
	each("vm.builtin.attention_kv_cache_get_layout_hash", attention_kv_cache_get_layout_hash) \
	each("vm.builtin.attention_kv_cache_export_page_group", attention_kv_cache_export_page_group) \
	each("vm.builtin.attention_kv_cache_prepare_import", attention_kv_cache_prepare_import) \
	each("vm.builtin.attention_kv_cache_import_page_group", attention_kv_cache_import_page_group) \
	each("vm.builtin.attention_kv_cache_finish_import", attention_kv_cache_finish_import) \
	each("vm.builtin.kv_cache_disagg_prepare_recv", kv_cache_disagg_prepare_recv) \
	each("vm.builtin.kv_cache_disagg_mark_send", kv_cache_disagg_mark_send) \
	each("vm.builtin.attention_kv_cache_get_query_positions", attention_kv_cache_get_query_positions) \
	each("vm.builtin.attention_kv_cache_attention_with_fused_qkv", attention_kv_cache_attention_with_fused_qkv) \
	each("vm.builtin.attention_kv_cache_attention_with_shared_kv", attention_kv_cache_attention_with_shared_kv) \
	each("vm.builtin.attention_kv_cache_self_attention", attention_kv_cache_self_attention) \
	each("vm.builtin.attention_kv_cache_cross_attention", attention_kv_cache_cross_attention) \
	each("vm.builtin.attention_kv_cache_append_mla_kv", attention_kv_cache_append_mla_kv) \
	each("vm.builtin.attention_kv_cache_merge_attn_output_inplace", attention_kv_cache_merge_attn_output_inplace) \
	each("vm.builtin.attention_kv_cache_debug_get_kv", attention_kv_cache_debug_get_kv) \
	each("vm.builtin.attention_kv_cache_debug_get_kv_mla", attention_kv_cache_debug_get_kv_mla) \
	each("vm.builtin.rnn_state_get", rnn_state_get) \
	each("vm.builtin.rnn_state_set", rnn_state_set) \
	each("vm.builtin.rnn_state_debug_get", rnn_state_debug_get)
/* clang-format on */

#endif /* RUNTIME_RELAX_RELAX_BUILTIN_LIST_H */
