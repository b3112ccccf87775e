/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_PAYLOAD_PAYLOAD_FILE_H
#define RUNTIME_PAYLOAD_PAYLOAD_FILE_H

/**
 * DOC: kernels in files of their own
 *
 * TVM writes a device's module to a file with its program alone and the table of its kernels beside
 * it, as JSON. Boards whose bitstream is built or installed apart from the host code use that. Host
 * code that wants such kernels imports the module (tenon_module_import(), `tenon run --import`).
 * Which files there are is in the formats (tenon_payload_format.files).
 */

#include <tenon/function.h>

/* `ffi.Module.load_from_file.<extension>`: takes the path and the extension */
int payload_file_load(void *self, const struct tenon_value *args, int32_t count,
		      struct tenon_value *ret);

#ifdef CONFIG_DEVICE_FILES
/* Does a format have files with a suffix. Opens plug-ins. */
bool payload_file_known(struct tenon_slice suffix);

/* Visit the suffixes of all formats; @plugins: those of plug-ins too. Stops at a non-zero answer. */
int payload_file_each_suffix(bool plugins, int (*visit)(void *context, const char *suffix),
			     void *context);
#else
static inline bool payload_file_known(struct tenon_slice suffix)
{
	(void)suffix;
	return false;
}

static inline int payload_file_each_suffix(bool plugins,
					   int (*visit)(void *context, const char *suffix),
					   void *context)
{
	(void)plugins;
	(void)visit;
	(void)context;
	return 0;
}
#endif

#endif /* RUNTIME_PAYLOAD_PAYLOAD_FILE_H */
