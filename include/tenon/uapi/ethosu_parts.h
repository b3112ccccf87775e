/* SPDX-License-Identifier: MIT */
#ifndef TENON_UAPI_ETHOSU_PARTS_H
#define TENON_UAPI_ETHOSU_PARTS_H

/**
 * DOC: a network for Ethos-U as its parts
 *
 * A payload of kind "ethos-u" in the form that a program hands over when it has the parts of a network in
 * memory, as an executor has that read a model. A file has one of the forms that compilers write. The
 * numbers are little-endian and of 64 bits:
 *
 *	TENON_ETHOSU_PARTS, 8 bytes; or TENON_ETHOSU_PARTS_GIVEN
 *	the region of constants
 *	the region of scratch memory, and its size
 *	the region of fast scratch memory, and its size; twice 0 for none
 *	inputs: their number n; n times 6 extents; n sizes of an element; n regions; n offsets
 *	outputs: the same
 *	the driver payload: its size in bytes, and it
 *	constants: their size in bytes
 *
 * It ends there. The constants are beside it: tenon_kernel_info.code of the program's kernel, so that a program hands
 * over weights of a file where they lie. A file or module cannot be of this form, because it has no constants then.
 *
 * With TENON_ETHOSU_PARTS_GIVEN the scratch memory is the program's: all tensors in it are in one piece of the device's
 * memory, at their offsets, and runs use all of it. Devices that would have to copy refuse the network.
 */

/* the first bytes */
#define TENON_ETHOSU_PARTS	 "EthosU\r\1"
#define TENON_ETHOSU_PARTS_GIVEN "EthosU\r\2"

#endif /* TENON_UAPI_ETHOSU_PARTS_H */
