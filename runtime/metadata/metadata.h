/* SPDX-License-Identifier: MIT */
/* Loaders of the modules that pass constants to the code that they import. */
#ifndef RUNTIME_METADATA_METADATA_H
#define RUNTIME_METADATA_METADATA_H

/*
 * Third-party code generators store their constants apart from their code: a const_loader (0.8:
 * metadata) module holds them, imports the modules with the code, and passes each of these its
 * constants before its first use. metadata_module wraps an ahead-of-time model and is empty.
 */

#include <tenon/backend/module_kind.h>

int const_load(struct tenon_cursor *c, const struct tenon_payload *payload,
	       struct tenon_module **out);
int metadata_load(struct tenon_cursor *c, const struct tenon_payload *payload,
		  struct tenon_module **out);

#endif /* RUNTIME_METADATA_METADATA_H */
