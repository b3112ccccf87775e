/* SPDX-License-Identifier: MIT */
/* The bytes are register commands for RK3588; what is accepted must set its registers from its own regions alone, and is shown as text. */
#include <stdlib.h>
#include <string.h>

#include "devices/rocket/rocket_registers.h"
#include "devices/rocket/rocket_walk.h"
#include "tests/fuzz/fuzz.h"
#include "tests/npu/rocket_stream.h"

/* reading allocates nothing; the text has a line for each word */
const size_t fuzz_memory_at_all = 65536 + 64 * 65536;

#define KERNELS_MOST 4

static const struct cmdstream_target target = {
	.name = "rocket",
	.unit = ROCKET_TASK_ALIGNMENT,
	.setter = rocket_setter,
	.walk = rocket_walk,
	.show = rocket_show,
};

/* A second look, by the tables alone: an address that is not 0 has a relocation, and nothing else has one. */
static void hold_to(const struct cmdstream *s, const struct cmdstream_kernel *k)
{
	struct tenon_cmdstream_relocation r;
	const struct rocket_register *found;
	uint64_t at, word;
	size_t relocated = 0;

	for (at = 0; at < k->size; at += ROCKET_WORD) {
		memcpy(&word, s->code.data + k->offset + at, sizeof(word));
		found = rocket_register_of(rocket_word_target(word), rocket_word_register(word));
		if (cmdstream_relocation_at(s, k, at + 2, &r)) {
			relocated++;
			if (!found || !found->is_address || r.width != 4 ||
			    r.addend > s->regions[r.region].size)
				abort();
		} else if (found && found->is_address && rocket_word_value(word)) {
			abort();
		}
	}
	if (relocated != k->relocation_count)
		abort();
}

static void show(const struct cmdstream *s, const struct cmdstream_kernel *k)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	struct cmdstream_view v = { .stream = s, .kernel = k, .out = &text };

	v.code = tenon_cursor_of(s->code.data + k->offset, (size_t)k->size, s->name, 0);
	while (tenon_cursor_left(&v.code) && !text.status)
		if (!rocket_show(&v))
			abort();
	tenon_buffer_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tenon_cursor c = tenon_cursor_of(data, size, "command stream", 0);
	struct cmdstream_kernel k;
	struct cmdstream s;
	size_t i;
	int err = cmdstream_read(&c, &s);

	for (i = 0; !err && i < s.kernel_count && i < KERNELS_MOST; i++) {
		err = cmdstream_kernel(&s, i, &k);
		err = err ? err : cmdstream_check(&s, &target, &k, NULL);
		if (err)
			break;
		hold_to(&s, &k);
		show(&s, &k);
	}
	fuzz_check(err);
	return 0;
}

void fuzz_seeds(void (*visit)(void *context, const char *name, struct tenon_slice bytes),
		void *context)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	unsigned int tasks;

	for (tasks = 1; tasks <= 2; tasks++) {
		b = (struct tenon_buffer)TENON_BUFFER_INIT;
		sample_stream(tasks, &b);
		visit(context, tasks == 1 ? "one task" : "two tasks",
		      (struct tenon_slice){ b.data, b.size });
		tenon_buffer_fini(&b);
	}
}
