/* SPDX-License-Identifier: MIT */
/* Report the contents of payloads to a visitor. */
#ifndef RUNTIME_PAYLOAD_PAYLOAD_VISIT_H
#define RUNTIME_PAYLOAD_PAYLOAD_VISIT_H

#include "runtime/core/visit_field.h"
#include "runtime/payload/payload_format.h"

/* The fields are those of describe_payload() and describe_functions(), which these call: runtime/core/describer.h lists them. */
int payload_visit_info(const struct tenon_payload_info *info, const struct tenon_visitor *v);
int payload_visit_functions(const struct tenon_payload_info *info, const struct tenon_visitor *v);

#endif /* RUNTIME_PAYLOAD_PAYLOAD_VISIT_H */
