/* SPDX-License-Identifier: MIT */
/* Readers of payload fields; tenon/backend/payload_format.h explains the field letters. */
#ifndef RUNTIME_PAYLOAD_PAYLOAD_FIELDS_H
#define RUNTIME_PAYLOAD_PAYLOAD_FIELDS_H

#include "runtime/payload/payload_format.h"

/* Skip a list of strings and return its length. */
int payload_take_strings(struct tenon_cursor *c, uint64_t *count);

/* Read a string that must be a short word; @what names it in errors. */
int payload_take_word(struct tenon_cursor *c, struct tenon_slice *out, const char *what);

/* Read a field that only a few kinds have. */
int payload_take_rare(char letter, struct tenon_cursor *c, struct tenon_payload_info *info);

#endif /* RUNTIME_PAYLOAD_PAYLOAD_FIELDS_H */
