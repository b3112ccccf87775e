/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_PAYLOAD_PAYLOAD_FILE_H
#define RUNTIME_PAYLOAD_PAYLOAD_FILE_H

/**
 * DOC: kernels in files of their own
 *
 * TVM writes a device's module to a file with its program alone (dev.ptx, dev.xclbin, dev.cl, …) and
 * the table of its kernels beside it, as JSON in dev.tvm_meta.json. Boards whose bitstream is built
 * or installed apart from the host code use that. Host code that wants such kernels imports the
 * module (tenon_module_import(), `tenon run --import`).
 */

#include <tenon/function.h>

/* `ffi.Module.load_from_file.<extension>`: the path, and the extension, which is taken from the path */
int device_file_load(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret);

#endif /* RUNTIME_PAYLOAD_PAYLOAD_FILE_H */
