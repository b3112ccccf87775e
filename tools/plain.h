/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_PLAIN_H
#define TOOLS_PLAIN_H

/** DOC: foreign text, made fit for a terminal */

#include <tenon/buffer.h>

/**
 * plain_append - append text of somebody else's file
 * @out: where to
 * @text: any bytes; what would move the cursor or ring a bell becomes "?"
 * @most: cut behind so many bytes, with "…"
 */
void plain_append(struct tenon_buffer *out, struct tenon_slice text, size_t most);

/** plain_width - columns that text takes, one for each character */
size_t plain_width(const char *text);

#endif /* TOOLS_PLAIN_H */
