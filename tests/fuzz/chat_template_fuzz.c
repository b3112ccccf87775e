/* SPDX-License-Identifier: MIT */
/* The bytes are a chat template, which is run and cut. */
#include <string.h>

#include "llm/template_cut.h"
#include "tests/fuzz/fuzz.h"

/* a token takes 24 bytes, and their array doubles */
const size_t fuzz_memory_per_byte = 256;
/* of values, and of text */
const size_t fuzz_memory_at_all = UINT32_C(1) << 25;

void fuzz_seeds(void (*visit)(void *context, const char *name, struct tenon_slice bytes),
		void *context)
{
	static const char chat[] =
		"{%- set ns = namespace(a=1) -%}{# note #}\n{% for m in messages[1:] %}\n"
		"{%- if loop.first and m['role'] in ['user'] or not m.x is defined %}\n"
		"{{ '<|a|>' + m.role ~ '\\n' + (m['content'] | trim).split('x')[-1] }}{% elif ns.a "
		"% 2 "
		"== 0 %}{% set ns.a = ns.a * 2 - -1 %}{% else %}{% break %}{% endif %}\n{% endfor "
		"%}\n"
		"{% set text %}{{ bos_token if tools else eos_token }}{% endset %}{{ text|upper }}";
	static const char back[] =
		"{% for m in messages[::-1] %}{{ m.get('role', 'x').startswith('u') }}{{ "
		"loop.index0 <= "
		"3 != false }}{% else %}{{ raise_exception('none') }}{% endfor %}"
		"{{ strftime_now('%d') if strftime_now is defined }}";

	visit(context, "chat", (struct tenon_slice){ chat, sizeof(chat) - 1 });
	visit(context, "back", (struct tenon_slice){ back, sizeof(back) - 1 });
}

void fuzz_mutate(struct mutant *m)
{
	static const char *const words[] = {
		"{{",
		"}}",
		"{%",
		"%}",
		"{#",
		"#}",
		"-%}",
		"{%-",
		"{% if ",
		"{% for a in ",
		"{% endfor %}",
		"{% else %}",
		"{% endif %}",
		"{% set a = ",
		"{% set a %}",
		"{% endset %}",
		"{% continue %}",
		"messages",
		"loop.",
		"[",
		"]",
		"(",
		")",
		":",
		"::",
		"|",
		".",
		"~",
		"*",
		"%",
		"-",
		" not ",
		" in ",
		" is ",
		" if ",
		" else ",
		"namespace(",
		"'",
		"\\",
		"9223372036854775807",
		"\xc3",
		",",
	};

	if (random_one_in(&m->random, 3))
		mutate_bytes(m);
	else
		mutate_lines(m, words, sizeof(words) / sizeof(words[0]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tenon_buffer out = TENON_BUFFER_INIT, why = TENON_BUFFER_INIT;

	fuzz_check(template_cut((struct tenon_slice){ (const char *)data, size }, "file",
				tenon_slice_of("<|a|>"), tenon_slice_of("<|z|>"), -1, 1, &out,
				&why));
	tenon_buffer_fini(&out);
	tenon_buffer_fini(&why);
	return 0;
}
