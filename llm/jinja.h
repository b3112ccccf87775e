/* SPDX-License-Identifier: MIT */
/* Chat templates: the part of Jinja that they use. */
#ifndef LLM_JINJA_H
#define LLM_JINJA_H

/*
 * A chat template is a program that came with a model, so it is hostile: steps, depth, memory and the size of the text
 * are limited, and it reaches nothing but its input. What such programs use of Jinja is here: if, for, set, namespace(),
 * conditions, slices, a few filters, tests and methods. Anything else is refused by its name when it would be done.
 */

#include <tenon/buffer.h>
#include <tenon/llm.h>

/** struct jinja_input - what a template sees: messages, bos_token, eos_token, add_generation_prompt as true, tools as none */
struct jinja_input {
	const struct tenon_llm_message *messages;
	size_t count;
	struct tenon_slice bos;
	struct tenon_slice eos;
};

/**
 * jinja_render - run a template
 * @program: the template
 * @name: for messages, which add the line
 * @input: must outlive the call
 * @out: the text is appended
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_UNSUPPORTED; -TENON_E_VALUE if the template raises an exception, or is wrong about
 *	what its values are; -TENON_E_OVERFLOW for a limit; -TENON_E_NOMEM.
 */
int jinja_render(struct tenon_slice program, const char *name, const struct jinja_input *input,
		 struct tenon_buffer *out);

#endif /* LLM_JINJA_H */
