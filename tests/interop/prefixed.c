/* SPDX-License-Identifier: MIT */
/* A shared object made of code for static linking, as TVM exports it with a system_lib_prefix. */
#include <stdint.h>
#include <tenon/value.h>

int TVMFFIEnvModRegisterSystemLibSymbol(const char *name, void *symbol);
int __tvm_ffi_first_fifteen(void *self, const struct tenon_value *args, int32_t count,
			    struct tenon_value *ret);

extern void *first___tvm_ffi__library_ctx;
void *first___tvm_ffi__library_ctx;

/* a root of a kind that has no loader, with an empty payload; it imports the library */
extern const struct import_tree {
	uint64_t size, row_count, rows[3], child_count, children[1];
	uint64_t kind_size;
	char kind[8];
	uint64_t payload_size, library_size;
	char library[4];
} __attribute__((packed)) first___tvm_ffi__library_bin;
const struct import_tree first___tvm_ffi__library_bin = {
	.size = sizeof(struct import_tree) - 8,
	.row_count = 3,
	.rows = { 0, 1, 1 },
	.child_count = 1,
	.children = { 1 },
	.kind_size = 8,
	.kind = { 'a', '_', 'k', 'i', 'n', 'd', '_', '1' },
	.library_size = 4,
	.library = { '_', 'l', 'i', 'b' },
};

int __tvm_ffi_first_fifteen(void *self, const struct tenon_value *args, int32_t count,
			    struct tenon_value *ret)
{
	(void)self, (void)args, (void)count;
	*ret = tenon_arg_int(first___tvm_ffi__library_ctx ? 15 : -1);
	return 0;
}

__attribute__((constructor)) static void start(void)
{
	int (*call)(void *, const struct tenon_value *, int32_t, struct tenon_value *) =
		__tvm_ffi_first_fifteen;

	TVMFFIEnvModRegisterSystemLibSymbol("__tvm_ffi_first_fifteen", *(void **)&call);
}
