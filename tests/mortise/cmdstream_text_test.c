/* SPDX-License-Identifier: MIT */
/* Command streams as text for people: names in a stream cannot forge lines. No device is needed. */
#include <stdlib.h>
#include <tenon/backend/buffer.h>

#include "devices/cmdstream/cmdstream_payload.h"
#include "tests/mortise/stream.h"
#include "tests/mortise/stream_check.h"
#include "tests/unit/suite.h"

/* Where the entry of the sample's second kernel begins, behind that of "dense" with two arguments. */
#define SECOND_KERNEL 40

static char *text_of(const struct tenon_buffer *b)
{
	const struct tenon_payload_info info = { .code = { b->data, b->size } };
	struct tenon_buffer out = TENON_BUFFER_INIT;

	assert_int_equal(cmdstream_show(&info, &stream_target, &out), 0);
	tenon_buffer_u8(&out, 0);
	assert_int_equal(out.status, 0);
	return out.data;
}

static void assert_text(const struct tenon_buffer *b, const char *has, const char *lacks)
{
	char *text = text_of(b);

	if (!strstr(text, has) || strstr(text, lacks))
		fail_msg("wanted \"%s\" and not \"%s\" in:\n%s", has, lacks, text);
	free(text);
}

static void the_code_of_kernels_that_overlap_is_shown_once(void **unused)
{
	const char *again = "not shown again";
	struct tenon_buffer b = TENON_BUFFER_INIT;
	size_t second;

	(void)unused;
	assert_int_equal(sample_stream(&b), 0);
	assert_text(&b, "clear(region 1)", again);
	second = stream_find(&b, TENON_CMDSTREAM_KERNEL_TABLE).at + SECOND_KERNEL;
	stream_set_word(&b, second, 0, 8);
	stream_set_word(&b, second + 8, stream_find(&b, TENON_CMDSTREAM_CODE).size, 8);
	assert_text(&b, again, "region 9");
	tenon_buffer_fini(&b);
}

static void fields_with_relocations_are_shown_as_places(void **unused)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	(void)unused;
	assert_int_equal(sample_stream(&b), 0);
	assert_text(&b, "0x0010  00 00 00 00  region 0 + 0x0\n", "region 9");
	/* the second kernel begins in the middle of the code */
	assert_text(&b, "at 0x90\n", "region 9");
	assert_text(&b, "  0x0008  00 00 00 00  region 1 + 0x0\n", "region 9");
	tenon_buffer_fini(&b);
}

static void names_cannot_forge_lines(void **unused)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	(void)unused;
	assert_int_equal(sample_stream(&b), 0);
	stream_set_word(&b, stream_find(&b, TENON_CMDSTREAM_KERNEL_TABLE).at + SECOND_KERNEL + 28,
			'\n', 1);
	stream_set_word(&b, stream_find(&b, TENON_CMDSTREAM_TARGET).at, 0x1b, 1);
	assert_text(&b, "?lear(region 1)", "\nlear");
	assert_text(&b, "target ?ortise", "\033");
	tenon_buffer_fini(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_code_of_kernels_that_overlap_is_shown_once),
		cmocka_unit_test(fields_with_relocations_are_shown_as_places),
		cmocka_unit_test(names_cannot_forge_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
