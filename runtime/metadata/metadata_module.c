/* SPDX-License-Identifier: MIT */
/* The empty module that TVM puts above an ahead-of-time model. */
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "runtime/core/visit_field.h"
#include "runtime/metadata/metadata.h"

/* This module has no functions of its own: the imports list theirs. */
static int metadata_each_function(struct tenon_module *m,
				  int (*visit)(void *context, struct tenon_slice name),
				  void *context)
{
	return 0;
}

static int metadata_save(struct tenon_module *m, struct tenon_buffer *out)
{
	return out->status;
}

static int metadata_visit(const struct tenon_module *m, const struct tenon_visitor *v)
{
	return visit_text(v, "loader", tenon_slice_of("ready"));
}

static const struct tenon_module_ops metadata_ops = {
	.each_function = metadata_each_function,
	.save = metadata_save,
	.visit = metadata_visit,
};

/* The payload is empty: the metadata is in the library, returned by get_c_metadata. */
int metadata_load(struct tenon_cursor *c, const struct tenon_payload *payload,
		  struct tenon_module **out)
{
	*out = malloc(sizeof(**out));
	if (!*out)
		return tenon_error(-TENON_E_NOMEM, "no memory for a metadata module");
	tenon_module_init(*out, &metadata_ops, tenon_slice_of("metadata_module"),
			  TENON_MODULE_SERIALIZABLE);
	return 0;
}
