/* SPDX-License-Identifier: MIT */
/* Fields of payloads, which a plug-in shows (payload_visit.c). */
#include "runtime/core/describer.h"
#include "runtime/payload/payload_visit.h"

int payload_visit_info(const struct tenon_payload_info *info, const struct tenon_visitor *v)
{
	return DESCRIBER(payload, info, v);
}

int payload_visit_functions(const struct tenon_payload_info *info, const struct tenon_visitor *v)
{
	return DESCRIBER(functions, info, v);
}
