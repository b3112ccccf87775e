/* SPDX-License-Identifier: MIT */
/* Describe what host code needs of the processor. */
#include "tools/inspect/inspect.h"

#include "link/describe_code.h"
#include "link/inspection.h"
#include "tools/host_code/code_text.h"

/* What host code needs; NULL for a file without host code, and for one that is not understood. */
static const struct tenon_link_processor *look(const struct tenon_link_inspection *n,
					       const char *file)
{
	const struct tenon_link_processor *p = NULL;

	if (n->library && describe_code(file, inspection_bytes(n), &p))
		tenon_error_clear();
	return p;
}

void inspect_code_text(const struct tenon_link_inspection *n, const char *file, FILE *out)
{
	const struct tenon_link_processor *p = look(n, file);

	if (p && p->extension_count)
		code_text(p, out);
	tenon_link_processor_free(p);
}

void inspect_code_json(const struct tenon_link_inspection *n, const char *file, cJSON *root)
{
	const struct tenon_link_processor *p = look(n, file);

	if (p)
		json_set(root, "processor", code_json(p));
	tenon_link_processor_free(p);
}
