/* SPDX-License-Identifier: MIT */
/* List the context variables of modules and the functions they receive. */
#include "runtime/library/context.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "lib/fork_gate.h"
#include "lib/option.h"
#include "runtime/library/tvm_table.h"

const struct loaded_name abi_context_modules[] = {
	LOADED_NAME("__tvm_ffi__library_ctx"), /* 0.22 and later */
	LOADED_NAME("__tvm_ffi_library_ctx"),  /* 0.21 */
	LOADED_NAME("__tvm_module_ctx"),       /* 0.8 to 0.20 */
	{ .text = NULL },
};

/* clang-format off */
static const struct abi_context_symbol builtin[] = {
	{ LOADED_NAME("__TVMFFIFunctionCall"), (void *)abi_ffi_function_call },
	{ LOADED_NAME("__TVMFFIErrorSetRaisedFromCStr"), (void *)abi_ffi_error_raise_text },
	{ LOADED_NAME("__TVMFFIErrorSetRaisedFromCStrParts"), (void *)abi_ffi_error_raise_parts },
	{ LOADED_NAME("__TVMFFIEnvModLookupFromImports"), (void *)abi_ffi_env_lookup },
	{ LOADED_NAME("__TVMFFIHandleInitOnce"), (void *)abi_ffi_init_once },
	{ LOADED_NAME("__TVMBackendGetFuncFromEnv"), (void *)abi_backend_lookup },
	{ LOADED_NAME("__TVMBackendAllocWorkspace"), (void *)abi_backend_alloc },
	{ LOADED_NAME("__TVMBackendFreeWorkspace"), (void *)abi_backend_free },
	{ LOADED_NAME("__TVMBackendParallelLaunch"), (void *)abi_backend_launch },
	{ LOADED_NAME("__TVMBackendParallelBarrier"), (void *)abi_backend_barrier },
	OPTION_ROWS(TVM_LEGACY,
	{ LOADED_NAME("__TVMFuncCall"), (void *)abi_legacy_func_call },
	{ LOADED_NAME("__TVMAPISetLastError"), (void *)abi_legacy_error_set },)
	{ { .text = NULL }, NULL },
};
/* clang-format on */

#define BUILTIN_COUNT (sizeof(builtin) / sizeof(builtin[0]) - 1)

/* Adding a symbol makes a longer list; older lists are kept for their readers. */
struct context_list {
	struct context_list *older;
	size_t count;
	struct abi_context_symbol symbol[];
};

static pthread_mutex_t context_lock = PTHREAD_MUTEX_INITIALIZER;
static struct context_list *context_list;

const struct abi_context_symbol *abi_context_symbols(void)
{
	struct context_list *list = __atomic_load_n(&context_list, __ATOMIC_ACQUIRE);

	return list ? list->symbol : builtin;
}

/* Caller holds the lock. */
static int context_add(const char *name, void *value)
{
	const struct abi_context_symbol *symbols = abi_context_symbols();
	size_t count = context_list ? context_list->count : BUILTIN_COUNT;
	struct context_list *list;
	char *copy = strdup(name);

	list = calloc(1, sizeof(*list) + (count + 2) * sizeof(list->symbol[0]));
	if (!list || !copy) {
		free(list);
		free(copy);
		return tenon_error(-TENON_E_NOMEM, "no memory for context symbol %s", name);
	}
	memcpy(list->symbol, symbols, count * sizeof(list->symbol[0]));
	list->symbol[count].name = loaded_name(copy);
	list->symbol[count].value = value;
	list->count = count + 1;
	list->older = context_list;
	__atomic_store_n(&context_list, list, __ATOMIC_RELEASE);
	return 0;
}

int abi_ffi_env_register_context(const char *name, void *symbol)
{
	int err;

	fork_gate_lock(&context_lock);
	err = context_add(name, symbol);
	fork_gate_unlock(&context_lock);
	return ffi_result(err);
}
