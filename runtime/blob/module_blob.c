/* SPDX-License-Identifier: MIT */
/* Writing a module and its imports: the public function. A plug-in does it (blob_write.c). */
#include <tenon/backend/module_kind.h>

#include "runtime/core/describer.h"

int tenon_module_write_blob(struct tenon_module *root, enum tenon_generation generation,
			    struct tenon_buffer *out)
{
	return DESCRIBER(blob, root, generation, out);
}
