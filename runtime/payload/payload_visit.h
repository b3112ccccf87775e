/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_PAYLOAD_PAYLOAD_VISIT_H
#define RUNTIME_PAYLOAD_PAYLOAD_VISIT_H

/* How payloads show themselves to a visitor. */

#include "runtime/core/visit_field.h"
#include "runtime/payload/payload_format.h"

/*
 * "format", "name", and for executors "nodes", "parameters" and "parameter_bytes"; each only where
 * the payload has it.
 */
int payload_visit_info(const struct tenon_payload_info *info, const struct tenon_visitor *v);

/*
 * "functions", names; and "launch", for kernels the same order: maps of "args", dtype names, and
 * "tags", launch tags.
 */
int payload_visit_functions(const struct tenon_payload_info *info, const struct tenon_visitor *v);

#endif /* RUNTIME_PAYLOAD_PAYLOAD_VISIT_H */
