/* SPDX-License-Identifier: MIT */
/* The global function that opens modules linked into the program. */
#include <tenon/backend/buffer.h>
#include <tenon/module.h>

#include "lib/brief_errors.h"
#include "runtime/core/arguments.h"
#include "runtime/library/globals.h"

PACKED_CALL(abi_system_lib)
{
	struct tenon_slice prefix = { "", 0 };
	struct tenon_buffer name = TENON_BUFFER_INIT;
	struct tenon_module *m;
	int err;

	err = abi_check_count("SystemLib", count, 0, 1);
	if (!err && count)
		err = tenon_value_text(&args[0], &prefix);
	if (!err)
		err = tenon_buffer_slice(&name, prefix);
	if (!err)
		err = tenon_system_lib(name.data ? name.data : "", &m);
	tenon_buffer_fini(&name);
	if (!err)
		*ret = tenon_arg_object(m);
	return err;
}
