/* SPDX-License-Identifier: MIT */
/* Libraries of vendors, opened at run time and searched again after a failure. */
#ifndef LIB_VENDOR_LIBRARY_H
#define LIB_VENDOR_LIBRARY_H

/*
 * libcuda, libOpenCL, libvulkan and libdrm are opened at run time, so that one package serves every
 * board. A missing library is an error with the remedy, and the next call searches again.
 */

#include <stdbool.h>
#include <stddef.h>

#include "lib/plugin_api.h"

/**
 * struct vendor_symbol - a function of a library
 * @name: its name
 * @offset: offset of the function pointer in the table that is filled
 * @optional: the table's pointer stays NULL where the library lacks it
 */
struct vendor_symbol {
	const char *name;
	size_t offset;
	bool optional;
};

/**
 * vendor_library_named - the path that an environment variable gives for a library
 * @variable: "TENON_OPENCL_LIBRARY"
 *
 * Return: NULL where it is not set or empty, and in a program with raised privileges.
 */
const char *vendor_library_named(const char *variable) TO_PLUGINS(vendor_library_named);

/**
 * vendor_library_open - open the first library of a list that exists, and fill a table
 * @names: file names, ended by NULL: "libOpenCL.so.1". An environment variable's value may be
 *	first.
 * @remedy: how to install it: "Debian: apt install ocl-icd-libopencl1 pocl-opencl-icd"
 * @symbols: @count symbols
 * @table: struct of function pointers; untouched on failure
 * @handle: receives the dlopen handle
 *
 * Return: 0; -TENON_E_NOMEM; -TENON_E_DEVICE with the names tried, the dynamic linker's messages
 *	and the remedy, or with the first function that is missing.
 */
int vendor_library_open(const char *const *names, const char *remedy,
			const struct vendor_symbol *symbols, size_t count, void *table,
			void **handle) TO_PLUGINS(vendor_library_open);

#endif /* LIB_VENDOR_LIBRARY_H */
