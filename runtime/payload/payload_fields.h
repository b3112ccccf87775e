/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_PAYLOAD_PAYLOAD_FIELDS_H
#define RUNTIME_PAYLOAD_PAYLOAD_FIELDS_H

/* Reading the fields of payloads, whose letters tenon/backend/payload_format.h explains. */

#include "runtime/payload/payload_format.h"

/* Read a list of strings, of which only the number is wanted. */
int payload_take_strings(struct tenon_cursor *c, uint64_t *count);

/* Read a string that is a short word; @what is for the error. */
int payload_take_word(struct tenon_cursor *c, struct tenon_slice *out, const char *what);

/* Read a field that few kinds have. */
int payload_take_rare(char letter, struct tenon_cursor *c, struct tenon_payload_info *info);

#endif /* RUNTIME_PAYLOAD_PAYLOAD_FIELDS_H */
