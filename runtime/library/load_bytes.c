/* SPDX-License-Identifier: MIT */
/* Load a module whose file is in memory. */
#include "lib/brief_errors.h"
#include "lib/option.h"
#include "runtime/core/tensor_data.h"
#include "runtime/kind/loaders.h"
#include "runtime/payload/payload_kernel.h"

int tenon_module_load_bytes(const char *kind, struct tenon_slice bytes, struct tenon_module **out)
{
	struct tenon_cursor c = tenon_cursor_of(bytes.data, bytes.size, "payload", 0);
	struct tenon_payload payload = { .file = "", .kind = tenon_slice_of(kind) };
	struct tenon_value arg = tenon_arg_bytes(&bytes);
	const struct tenon_module_loader *loader = loader_find(payload.kind);
	struct tenon_buffer names = TENON_BUFFER_INIT;
	struct tenon_function *function;
	int err;

	*out = NULL;
	err = bytes_check_data(bytes.data, bytes.size);
	if (err)
		return err;
	if (loader)
		return loader_run(loader, &c, &payload, out);
	if (OPTION_ON(DEVICES) && tenon_backend_of_kind(payload.kind))
		return payload_module_load(payload.kind, bytes, out);
	err = loader_find_function(payload.kind, &function);
	if (err)
		return err;
	if (function) {
		err = loader_call(function, &arg, 1, out);
		tenon_object_unref(function);
		return err;
	}
	if (ERROR_MESSAGES)
		tenon_module_loader_names(&names);
	err = tenon_error(-TENON_E_NO_LOADER,
			  "no loader for kind \"%s\". Kinds this build loads: %s", kind,
			  names.data ? names.data : "");
	tenon_buffer_fini(&names);
	return err;
}
