/* SPDX-License-Identifier: MIT */
#ifndef TENON_UAPI_MORTISE_KERNEL_H
#define TENON_UAPI_MORTISE_KERNEL_H

/**
 * DOC: device code for mortise
 *
 * Device code is an ELF executable of the core's machine, linked at any address with its relocations kept
 * (ld --emit-relocs) and without a libc. Its section ".mortise" is an array of struct mortise_entry, one for
 * each kernel that the host may call; MORTISE_KERNEL() makes them:
 *
 *	static int32_t add(const uint64_t *arguments, const struct mortise_group *group) { … }
 *	MORTISE_KERNEL(add, "handle handle handle int32", "blockIdx.x");
 *
 * The host moves the image to a place in the window: it adds the distance to each word that holds an address
 * (R_RISCV_32, R_RISCV_64, R_ARM_ABS32, R_HEX_32, R_HEX_32_6_X, R_X86_64_64, R_AARCH64_ABS64). Other absolute
 * relocations are refused, so compile position-independent data accesses: -mcmodel=medany on RISC-V, -fPIE on x86-64;
 * what gcc makes for Cortex-M with -Os and for aarch64 is right as it is, and what clang makes for Hexagon with -G0.
 * firmware/kernels/kernel.ld is a linker script for all.
 *
 * A pointer argument is the address of the buffer; a scalar lies in the first bytes of its word. A launch runs the
 * function for each group of the grid, one after the other; the function loops over the threads of a group. Where
 * "tir.use_dyn_shared_memory" is among the launch tags, the address of the shared memory is the argument behind the
 * last one.
 */

#include <tenon/uapi/mortise.h>

#define MORTISE_NAME_SIZE  120
#define MORTISE_TYPES_SIZE 256
#define MORTISE_TAGS_SIZE  128

/**
 * struct mortise_entry - a kernel of an image
 * @name: by which it is called
 * @types: dtype of each argument, separated by spaces; "handle" for tensor data
 * @tags: launch tags in the order of the integers that follow the arguments of a call, separated by spaces:
 *	"blockIdx.x threadIdx.x"
 * @function: its address in the image
 *
 * Texts end with a NUL inside their field.
 */
struct mortise_entry {
	char name[MORTISE_NAME_SIZE];
	char types[MORTISE_TYPES_SIZE];
	char tags[MORTISE_TAGS_SIZE];
	union {
		mortise_function function;
		uint64_t address;
	} function;
};

/* Offer a function of the same name to the host. */
#define MORTISE_KERNEL(kernel, argument_types, launch_tags)                                        \
	__attribute__((section(".mortise"), used,                                                  \
		       aligned(8))) static const struct mortise_entry mortise_entry_##kernel = {   \
		#kernel, argument_types, launch_tags, { kernel }                                   \
	}

/** MORTISE_POINTER - the i-th argument as an address */
#define MORTISE_POINTER(type, arguments, i) ((type *)(uintptr_t)(arguments)[i])

/** MORTISE_SCALAR - the i-th argument as a value */
#define MORTISE_SCALAR(type, arguments, i)                                                         \
	(*(const type __attribute__((may_alias)) *)&(arguments)[i])

#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
_Static_assert(sizeof(struct mortise_entry) == 512, "the same on all machines");
#endif

#endif /* TENON_UAPI_MORTISE_KERNEL_H */
