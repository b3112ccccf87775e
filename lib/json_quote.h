/* SPDX-License-Identifier: MIT */
/* Text as a JSON string, for code that prints JSON without a tree. */
#ifndef LIB_JSON_QUOTE_H
#define LIB_JSON_QUOTE_H

#include <tenon/backend/buffer.h>

#include "lib/utf8.h"

/** json_quote - append a text as a JSON string; bytes that are no UTF-8 become U+FFFD */
static inline void json_quote(struct tenon_buffer *out, struct tenon_slice text)
{
	int n;

	tenon_buffer_u8(out, '"');
	while (text.size) {
		n = utf8_character(text);
		if (n <= 0)
			tenon_buffer_printf(out, "\\ufffd");
		else if ((unsigned char)*text.data < ' ' || *text.data == 0x7f)
			tenon_buffer_printf(out, "\\u%04x", (unsigned int)*text.data);
		else if (*text.data == '"' || *text.data == '\\')
			tenon_buffer_printf(out, "\\%c", *text.data);
		else
			tenon_buffer_append(out, text.data, (size_t)n);
		n = n > 0 ? n : 1;
		text.data += n;
		text.size -= (size_t)n;
	}
	tenon_buffer_u8(out, '"');
}

#endif /* LIB_JSON_QUOTE_H */
