/* SPDX-License-Identifier: MIT */
/*
 * A module as TVM's old code generator for Ethos-U wrote them: a C function that fills in the regions and calls
 * TVMEthosULaunch(), and an array, which comes from the compiler's file PAYLOAD here. It has no weights; its input is both
 * inputs of the addition, one behind the other. "run" is its packed function.
 */
#include <stdint.h>
#include <tenon/ethosu.h>
#include <tenon/tensor.h>
#include <tenon/value.h>

#define INPUT	1152
#define OUTPUT	576
#define REGIONS 5

__asm__(".section .rodata.tvm, \"a\"\n.balign 16\npayload: .incbin \"" PAYLOAD "\"\n"
	"payload_end: .byte 0\n.previous\n");
extern const uint8_t payload[] __attribute__((visibility("hidden")));
extern const uint8_t payload_end[] __attribute__((visibility("hidden")));

int __tvm_ffi_run(void *self, const struct tenon_value *args, int32_t count,
		  struct tenon_value *ret);

static int32_t network(void *input, void *output, void *resource_handle)
{
	uint64_t base_addrs[REGIONS] = { 0, 0, 0, (uintptr_t)input, (uintptr_t)output };
	size_t base_addrs_size[REGIONS] = { 0, 0, 0, INPUT, OUTPUT };

	return TVMEthosULaunch(resource_handle, payload, (size_t)(payload_end - payload),
			       base_addrs, base_addrs_size, REGIONS);
}

static DLTensor *tensor_of(const struct tenon_value *arg)
{
	if (arg->type == TENON_TYPE_DLTENSOR)
		return arg->as.tensor;
	return (DLTensor *)((char *)arg->as.object + sizeof(struct tenon_object));
}

int __tvm_ffi_run(void *self, const struct tenon_value *args, int32_t count,
		  struct tenon_value *ret)
{
	(void)self;
	(void)ret;
	if (count != 2)
		return -1;
	return network(tensor_of(&args[0])->data, tensor_of(&args[1])->data, NULL);
}
