/* SPDX-License-Identifier: MIT */
/* Payloads of kind "torq": the slots of their description. */
#ifndef DEVICES_TORQ_TORQ_PAYLOAD_H
#define DEVICES_TORQ_TORQ_PAYLOAD_H

/*
 * A payload is a file of Synaptics' compiler, byte for byte. Each executable in it is a function, whose arguments are the
 * memory that its bindings name; the only executable of a file is called "main".
 */

#include <tenon/backend/payload_format.h>

/* torq_format.c: kinds of modules, and the formats of their payloads; each ended by NULL */
extern const char *const torq_payload_kinds[];
extern const struct tenon_payload_format *const torq_payload_formats[];

/* torq_fields.c and torq_describe.c: as struct tenon_payload_format has them */
int torq_field(char letter, struct tenon_cursor *c, struct tenon_payload_info *info);
int torq_visit(const struct tenon_payload_info *info, const struct tenon_visitor *v);
int torq_check_program(const struct tenon_payload_request *r, struct tenon_report *out);
int torq_describe(const struct tenon_payload_request *r, struct tenon_report *out);

#endif /* DEVICES_TORQ_TORQ_PAYLOAD_H */
