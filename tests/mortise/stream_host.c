/* SPDX-License-Identifier: MIT */
/* Host code of a module with a command stream among its imports, for stream_tree_test.c. */
#include "examples/mortise/launcher.h"

/* tensors on the device */
OPERATOR(layer)
{
	(void)self;
	*ret = tenon_arg_none();
	return count == 2 ? launch("dense", args, 2) : -1;
}

/* tensors of the host, as code generators for NPUs pass them */
OPERATOR(layer_on_host)
{
	(void)self;
	*ret = tenon_arg_none();
	return count == 2 ? call("dense", args, 2) : -1;
}
