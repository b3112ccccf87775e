/* SPDX-License-Identifier: MIT */
/* From a chat template in Jinja to what is between the messages of a conversation. */
#ifndef LLM_TEMPLATE_CUT_H
#define LLM_TEMPLATE_CUT_H

#include <stdbool.h>
#include <tenon/buffer.h>
#include <tenon/string.h>

/**
 * template_cut - write a chat template as the "conv_template" of an mlc-chat-config.json
 * @program: the template
 * @name: for messages
 * @bos: the token that begins a text; empty for none
 * @eos: that which ends a message
 * @prefix: number of the token @bos if each prompt begins with it whatever the template writes; -1 for none
 * @bos_number: number of the token @bos, for a template that writes it in front of each prompt
 * @out: the object is appended
 * @why: receives why the template cannot be written so, appended; nothing if it was written
 *
 * A few conversations are rendered and cut where their messages are; what comes out is compared with the template again.
 * So a template can be written in which what is between two messages depends on their roles alone.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int template_cut(struct tenon_slice program, const char *name, struct tenon_slice bos,
		 struct tenon_slice eos, int64_t prefix, int64_t bos_number,
		 struct tenon_buffer *out, struct tenon_buffer *why);

#endif /* LLM_TEMPLATE_CUT_H */
