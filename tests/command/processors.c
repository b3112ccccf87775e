/* SPDX-License-Identifier: MIT */
/* A module with code for several processors: which() writes the level of the code that was taken. */
#include <tenon/tensor.h>
#include <tenon/value.h>

#define CODE(number, symbol)                                                                       \
	int which_##number(void *self, const struct tenon_value *args, int32_t nargs,              \
			   struct tenon_value *ret) __asm__(symbol);                               \
	int which_##number(void *self, const struct tenon_value *args, int32_t nargs,              \
			   struct tenon_value *ret)                                                \
	{                                                                                          \
		const DLTensor *to;                                                                \
                                                                                                   \
		(void)self;                                                                        \
		(void)ret;                                                                         \
		if (nargs != 1)                                                                    \
			return -1;                                                                 \
		to = args->type == TENON_TYPE_DLTENSOR                                             \
			     ? args->as.tensor                                                     \
			     : (DLTensor *)((char *)args->as.object +                              \
					    sizeof(struct tenon_object));                          \
		*(float *)to->data = number;                                                       \
		return 0;                                                                          \
	}

CODE(1, "__tvm_ffi_which")
CODE(2, "__tvm_ffi_which.x86_64_v2")
CODE(3, "__tvm_ffi_which.x86_64_v3")
CODE(4, "__tvm_ffi_which.x86_64_v4")
CODE(5, "__tvm_ffi_which.x86_64_v4_avx512vnni")
CODE(9, "__tvm_ffi_which.x86_64_v9")

extern const char keys[] __asm__("__tenon_processors");
const char keys[] = "x86_64_v9 x86_64_v4_avx512vnni x86_64_v4 x86_64_v3 x86_64_v2";
