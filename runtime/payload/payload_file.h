/* SPDX-License-Identifier: MIT */
/* Device programs in files beside a module. */
#ifndef RUNTIME_PAYLOAD_PAYLOAD_FILE_H
#define RUNTIME_PAYLOAD_PAYLOAD_FILE_H

/*
 * TVM writes a device's module as two files: the program, and a JSON table of its kernels. Boards
 * whose bitstream is installed apart from the host code use this. Host code that needs such kernels
 * imports the module (tenon_module_import(), `tenon run --import`). tenon_payload_format.files
 * lists the files of a format.
 */

#include <tenon/function.h>

#include "runtime/core/arguments.h"

/* `ffi.Module.load_from_file.<extension>`: takes a path and the extension. */
PACKED_CALL(payload_file_load);

#ifdef CONFIG_DEVICES
/* Test whether a format has files with a suffix. Opens plug-ins. */
bool payload_file_known(struct tenon_slice suffix);

/*
 * Visit the suffixes of all formats, with @plugins those of plug-ins too. Stops when @visit returns
 * non-zero.
 */
int payload_file_each_suffix(bool plugins, int (*visit)(void *context, const char *suffix),
			     void *context);
#else
static inline bool payload_file_known(struct tenon_slice suffix)
{
	return false;
}

static inline int payload_file_each_suffix(bool plugins,
					   int (*visit)(void *context, const char *suffix),
					   void *context)
{
	return 0;
}
#endif

#endif /* RUNTIME_PAYLOAD_PAYLOAD_FILE_H */
