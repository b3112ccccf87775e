/* SPDX-License-Identifier: MIT */
/* Hash table of the runtime functions that the compatibility library forwards. */
#include "runtime/library/tvm_table.h"

#include <pthread.h>
#include <string.h>

#include "runtime/core/module_object.h"
#include "runtime/core/nested_delete.h"

static const struct tenon_tvm_table tvm_table = {
	.version = TVM_TABLE_VERSION,
	.size = sizeof(tvm_table),
#define NAME(type, fail, name, impl, params, args) .name = impl,
#define NAME_VOID(name, impl, params, args)	   .name = impl,
#include "runtime/library/tvm_names.h"
#undef NAME
#undef NAME_VOID
	.function_each = tenon_function_each,
	.function_remove = tenon_function_remove,
	.type_end = type_end,
	.nested_delete = nested_delete,
	.module_is_ours = module_is_ours,
	.module_import_count = tenon_module_import_count,
	.module_import_at = tenon_module_import_at,
	.error_clear = tenon_error_clear,
};

const struct tenon_tvm_table *tenon_tvm_table(void)
{
	return &tvm_table;
}

/* names in the order of the table's members, each NUL-terminated */
static const char names[] =
#define NAME(type, fail, name, impl, params, args) #name "\0"
#define NAME_VOID(name, impl, params, args)	   #name "\0"
#include "runtime/library/tvm_names.h"
#undef NAME
#undef NAME_VOID
	;

#define SLOTS 256 /* a power of two, well above the number of names */

static struct {
	uint16_t name;	 /* offset in @names */
	uint16_t member; /* index of the pointer in the table; 0 for none */
} slots[SLOTS];
static pthread_once_t slots_filled = PTHREAD_ONCE_INIT;

static unsigned int hash(const char *name)
{
	unsigned int h = 5381;

	while (*name)
		h = h * 33 + (unsigned char)*name++;
	return h ^ h >> 8;
}

static void fill_slots(void)
{
	size_t member = offsetof(struct tenon_tvm_table, TVMFFIGetVersion) / sizeof(void *);
	const char *name;
	unsigned int i;

	for (name = names; *name; name += strlen(name) + 1, member++) {
		for (i = hash(name) % SLOTS; slots[i].member; i = (i + 1) % SLOTS)
			;
		slots[i].name = (uint16_t)(name - names);
		slots[i].member = (uint16_t)member;
	}
}

void *tvm_table_find(const char *name)
{
	unsigned int i;

	pthread_once(&slots_filled, fill_slots);
	for (i = hash(name) % SLOTS; slots[i].member; i = (i + 1) % SLOTS)
		if (!strcmp(names + slots[i].name, name))
			return ((void *const *)(const void *)&tvm_table)[slots[i].member];
	return NULL;
}
