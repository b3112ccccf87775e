/* SPDX-License-Identifier: MIT */
/* Report the contents of payloads to a visitor. */
#ifndef RUNTIME_PAYLOAD_PAYLOAD_VISIT_H
#define RUNTIME_PAYLOAD_PAYLOAD_VISIT_H

#include "runtime/core/visit_field.h"
#include "runtime/payload/payload_format.h"

/*
 * Report "format" and "name", and for executors "nodes", "parameters" and "parameter_bytes", each
 * only if present.
 */
int payload_visit_info(const struct tenon_payload_info *info, const struct tenon_visitor *v);

/*
 * Report "functions", a list of names, and for kernels "launch", a list of maps in the same order:
 * "args", dtype names, and "tags", launch tags.
 */
int payload_visit_functions(const struct tenon_payload_info *info, const struct tenon_visitor *v);

#endif /* RUNTIME_PAYLOAD_PAYLOAD_VISIT_H */
