/* SPDX-License-Identifier: MIT */
/* Which register commands are accepted, and each reason to refuse some. No device is needed. */
#include <stdlib.h>

#include "devices/cmdstream/cmdstream_payload.h"
#include "devices/rocket/rocket_device.h"
#include "devices/rocket/rocket_walk.h"
#include "tests/npu/rocket_stream.h"
#include "tests/unit/suite.h"

static int check(const struct tenon_buffer *b)
{
	/* memory of exactly this size, so that a sanitizer sees a read behind it */
	char *copy = malloc(b->size);
	struct tenon_cursor c;
	struct cmdstream_kernel k;
	struct cmdstream s;
	int err;

	memcpy(copy, b->data, b->size);
	c = tenon_cursor_of(copy, b->size, "payload", 0);
	err = cmdstream_read(&c, &s);
	err = err ? err : cmdstream_kernel(&s, 0, &k);
	err = err ? err : cmdstream_check(&s, &rocket_target, &k, NULL);
	free(copy);
	return err;
}

/* ---- a sample with one thing changed */

static struct cmdstream_emitter e;

static void begin(void)
{
	cmdstream_emitter_init(&e);
	put_regions(&e);
}

static void end(int status, const char *why)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	int err;

	assert_int_equal(end_sample(&e, &b), 0);
	err = check(&b);
	if (err != status)
		print_error("%s\n", err ? tenon_error_message() : "accepted");
	assert_int_equal(err, status);
	if (status)
		assert_error_has(why);
	tenon_buffer_fini(&b);
}

/* A convolution with more words at its end. */
#define REFUSED(status, why, ...)                                                                  \
	do {                                                                                       \
		begin();                                                                           \
		put_convolution(&e, SAMPLE_INPUT, SAMPLE_OUTPUT);                                  \
		__VA_ARGS__;                                                                       \
		put_end(&e, SAMPLE_UNITS);                                                         \
		end(status, why);                                                                  \
	} while (0)

static void the_samples_are_accepted(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	unsigned int i;

	(void)state;
	for (i = 1; i <= 2; i++) {
		assert_int_equal(sample_stream(i, &b), 0);
		if (check(&b))
			fail_msg("%s", tenon_error_message());
		tenon_buffer_fini(&b);
		b = (struct tenon_buffer)TENON_BUFFER_INIT;
	}
}

static void registers_that_are_not_known_are_refused(void **state)
{
	(void)state;
	REFUSED(-TENON_E_FORMAT, "target 0x0201 has no register 0x4020",
		put_word(&e, ROCKET_TARGET_CNA, 0x4020, 0));
	REFUSED(-TENON_E_FORMAT, "target 0x0201 has no register 0x1008",
		put_word(&e, ROCKET_TARGET_CNA, 0x1008, 1));
	REFUSED(-TENON_E_FORMAT, "target 0x0401 has no register 0x8000",
		put_word(&e, 0x0401, 0x8000, 0));
	REFUSED(-TENON_E_FORMAT, "register 0x40c4", put_word(&e, ROCKET_TARGET_DPU, 0x40c4, 1));
}

static void tasks_that_lead_to_others_are_refused(void **state)
{
	(void)state;
	REFUSED(-TENON_E_FORMAT, "Linux starts each task",
		put_word(&e, ROCKET_TARGET_PC, 0x0010, 0x1000));
	REFUSED(-TENON_E_FORMAT, "Linux starts each task",
		put_word(&e, ROCKET_TARGET_PC, 0x0014, 4));
	REFUSED(-TENON_E_FORMAT, "of which",
		put_address(&e, ROCKET_TARGET_PC, 0x0010, SAMPLE_INPUT, 0));
}

static void addresses_are_those_of_regions(void **state)
{
	(void)state;
	REFUSED(-TENON_E_FORMAT, "is an address that no relocation writes",
		put_word(&e, ROCKET_TARGET_DPU, 0x4020, 0x1000));
	REFUSED(-TENON_E_FORMAT, "DST_BASE_ADDR), which is 0 and has no relocation",
		put_word(&e, ROCKET_TARGET_DPU, 0x4020, 0));
	/* a relocation over something else */
	REFUSED(-TENON_E_FORMAT, "the others would write over something else",
		put_address(&e, ROCKET_TARGET_CNA, 0x1014, SAMPLE_INPUT, 0));
}

static void accesses_stay_in_their_regions(void **state)
{
	(void)state;
	REFUSED(-TENON_E_FORMAT, "writes to region 0 (input)",
		put_address(&e, ROCKET_TARGET_DPU, 0x4020, SAMPLE_INPUT, 0));
	REFUSED(-TENON_E_FORMAT, "reads region 2 (output)",
		put_address(&e, ROCKET_TARGET_CNA, 0x1070, SAMPLE_OUTPUT, 0));
	REFUSED(-TENON_E_FORMAT, "reads region 3 (scratch) before anything was written",
		put_address(&e, ROCKET_TARGET_CNA, 0x1070, SAMPLE_BETWEEN, 0));
	/* results of the last atom */
	REFUSED(-TENON_E_FORMAT, "accesses 256 bytes at 16 of region 2 (output), which has 256",
		put_address(&e, ROCKET_TARGET_DPU, 0x4020, SAMPLE_OUTPUT, 16));
	REFUSED(-TENON_E_FORMAT, "accesses 272 bytes at 0 of region 2 (output), which has 256",
		put_word(&e, ROCKET_TARGET_DPU, 0x4024, 144));
	REFUSED(-TENON_E_FORMAT, "is at 8 of region 0 (input) with alignment 16",
		put_address(&e, ROCKET_TARGET_CNA, 0x1070, SAMPLE_INPUT, 8));
	REFUSED(-TENON_E_FORMAT, "accesses 17 bytes at 0 of region 1 (constant), which has 16",
		put_word(&e, ROCKET_TARGET_CNA, 0x1030, 17));
	/* the weights of the task before */
	REFUSED(0, "", put_word(&e, ROCKET_TARGET_CNA, 0x1030, 17);
		put_word(&e, ROCKET_TARGET_CNA, 0x1040, 0x2021));
}

/* Each reader of the DPU has its switch, without which its address may be 0. */
static void readers_that_work_have_addresses(void **state)
{
	static const struct {
		unsigned int at;
		uint32_t value;
		const char *why;
	} cases[] = {
		{ 0x5044, 0x7800, "0x5018 (SRC_BASE_ADDR)" },
		{ 0x501c, 2, "0x5020 (BS_BASE_ADDR)" },
		{ 0x5028, 2, "0x502c (BN_BASE_ADDR)" },
		{ 0x5034, 0, "0x5038 (EW_BASE_ADDR)" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		REFUSED(-TENON_E_FORMAT, cases[i].why,
			put_word(&e, ROCKET_TARGET_DPU_RDMA, cases[i].at, cases[i].value));
	REFUSED(0, "", put_word(&e, ROCKET_TARGET_DPU_RDMA, 0x501c, 2);
		put_address(&e, ROCKET_TARGET_DPU_RDMA, 0x5020, SAMPLE_WEIGHTS, 0));
}

static void a_task_sets_what_its_units_use(void **state)
{
	(void)state;
	begin();
	put_word(&e, ROCKET_TARGET_DPU, 0x400c, 0x1e4);
	put_end(&e, ROCKET_UNIT_DPU);
	end(-TENON_E_FORMAT, "does not set its register 0x4010 (DATA_FORMAT)");
	begin();
	put_convolution(&e, SAMPLE_INPUT, SAMPLE_OUTPUT);
	put_end(&e, SAMPLE_UNITS);
	/* what the first task set does not count */
	put_word(&e, ROCKET_TARGET_DPU, 0x4010, 0);
	put_end(&e, ROCKET_UNIT_DPU);
	end(-TENON_E_FORMAT, "does not set its register 0x400c (FEATURE_MODE_CFG)");
}

static void units_are_known_and_the_dpu_is_one(void **state)
{
	(void)state;
	begin();
	put_convolution(&e, SAMPLE_INPUT, SAMPLE_OUTPUT);
	put_end(&e, SAMPLE_UNITS | 2);
	end(-TENON_E_FORMAT, "units 0x1f are enabled; there are 0x7d");
	begin();
	put_address(&e, ROCKET_TARGET_PPU, 0x6070, SAMPLE_OUTPUT, 0);
	put_address(&e, ROCKET_TARGET_PPU_RDMA, 0x701c, SAMPLE_INPUT, 0);
	put_end(&e, ROCKET_UNIT_PPU | ROCKET_UNIT_PPU_RDMA);
	end(-TENON_E_UNSUPPORTED, "Linux would wait for that in vain");
	/* pooling of what the DPU hands over */
	begin();
	put_convolution(&e, SAMPLE_INPUT, SAMPLE_OUTPUT);
	put_word(&e, ROCKET_TARGET_DPU, 0x400c, 0x1e2);
	put_address(&e, ROCKET_TARGET_PPU, 0x6070, SAMPLE_OUTPUT, 0);
	put_end(&e, SAMPLE_UNITS | ROCKET_UNIT_PPU);
	end(0, "");
	begin();
	put_convolution(&e, SAMPLE_INPUT, SAMPLE_OUTPUT);
	put_word(&e, ROCKET_TARGET_DPU, 0x400c, 0x1e2);
	put_end(&e, SAMPLE_UNITS);
	end(-TENON_E_FORMAT, "has no result");
}

static void tasks_have_their_form(void **state)
{
	(void)state;
	begin();
	put_word(&e, 0, 0, 0);
	put_convolution(&e, SAMPLE_INPUT, SAMPLE_OUTPUT);
	put_end(&e, SAMPLE_UNITS);
	end(-TENON_E_FORMAT, "a task that begins with a zero word");
	/* no end */
	begin();
	put_convolution(&e, SAMPLE_INPUT, SAMPLE_OUTPUT);
	while (e.code.size % ROCKET_TASK_ALIGNMENT)
		put_word(&e, 0, 0, 0);
	end(-TENON_E_TRUNCATED, "payload");
	/* the last word alone */
	begin();
	put_convolution(&e, SAMPLE_INPUT, SAMPLE_OUTPUT);
	put_word(&e, ROCKET_TARGET_ENABLE, ROCKET_ENABLE, SAMPLE_UNITS);
	while (e.code.size % ROCKET_TASK_ALIGNMENT)
		put_word(&e, 0, 0, 0);
	end(-TENON_E_FORMAT, "comes before the last word of a task");
	/* no multiple of 64 bytes */
	begin();
	put_convolution(&e, SAMPLE_INPUT, SAMPLE_OUTPUT);
	put_end(&e, SAMPLE_UNITS);
	put_word(&e, 0, 0, 0);
	end(-TENON_E_FORMAT, "needs multiples of 64");
	begin();
	put_convolution(&e, SAMPLE_INPUT, SAMPLE_OUTPUT);
	put_word(&e, ROCKET_TARGET_READY, 0, 0);
	put_word(&e, ROCKET_TARGET_ENABLE, ROCKET_ENABLE, SAMPLE_UNITS);
	assert_int_not_equal(e.code.size % ROCKET_TASK_ALIGNMENT, 0);
	while (e.code.size % ROCKET_TASK_ALIGNMENT)
		put_word(&e, ROCKET_TARGET_CNA, 0x1014, 0);
	end(-TENON_E_FORMAT, "where zero words fill up to a multiple of 64 bytes");
}

static void other_chips_are_refused(void **state)
{
	static const uint32_t arguments[] = { SAMPLE_INPUT, SAMPLE_OUTPUT };
	static const uint32_t config[] = { 3576, 1 };
	struct tenon_buffer b = TENON_BUFFER_INIT;
	uint32_t count;

	(void)state;
	for (count = 0; count < 3; count++) {
		begin();
		put_convolution(&e, SAMPLE_INPUT, SAMPLE_OUTPUT);
		put_end(&e, SAMPLE_UNITS);
		cmdstream_end_kernel(&e, "main", arguments, 2);
		assert_int_equal(cmdstream_flush(&e, "rocket", config, count, &b), 0);
		cmdstream_emitter_fini(&e);
		assert_int_equal(check(&b), count == 1 ? -TENON_E_UNSUPPORTED : -TENON_E_FORMAT);
		assert_error_has(count == 1 ? "register commands for SoC 3576" : "rocket has one");
		tenon_buffer_fini(&b);
		b = (struct tenon_buffer)TENON_BUFFER_INIT;
	}
}

static void commands_are_shown_as_text(void **state)
{
	struct tenon_payload_info info = { .size = sizeof(info) };
	struct tenon_buffer b = TENON_BUFFER_INIT, text = TENON_BUFFER_INIT;

	(void)state;
	assert_int_equal(sample_stream(1, &b), 0);
	info.code = (struct tenon_slice){ b.data, b.size };
	assert_int_equal(rocket_show_stream(&info, &text), 0);
	tenon_buffer_u8(&text, 0);
	assert_non_null(strstr(text.data, "target rocket, config 0xe04\n"));
	assert_non_null(strstr(text.data, "main(region 0, region 2): 192 bytes at 0x0\n"
					  "  0x0000  CNA CBUF_CON0 = 0x21\n"
					  "  0x0008  CNA WEIGHT_SIZE0 = 0x10\n"
					  "  0x0010  CNA FEATURE_DATA_ADDR = region 0 + 0x0\n"));
	assert_non_null(strstr(text.data, "  0x0028  CORE ? (0x3030) = 0x0\n"));
	assert_non_null(strstr(text.data, "  0x0040  DPU DST_BASE_ADDR = region 2 + 0x0\n"));
	assert_non_null(strstr(text.data, "  ready\n"));
	assert_non_null(strstr(text.data, "  enable CNA CORE DPU DPU_RDMA\n"));
	tenon_buffer_fini(&text);
	tenon_buffer_fini(&b);
}

/* Each byte of a payload changed: no answer but a clean one. */
static void damaged_payloads_are_read_without_harm(void **state)
{
	static const uint8_t changes[] = { 0x01, 0x10, 0x80, 0xff };
	struct tenon_buffer b = TENON_BUFFER_INIT;
	unsigned int refused = 0;
	size_t i, k;

	(void)state;
	assert_int_equal(sample_stream(2, &b), 0);
	for (i = 0; i < b.size; i++)
		for (k = 0; k < sizeof(changes); k++) {
			b.data[i] ^= (char)changes[k];
			refused += check(&b) != 0;
			tenon_error_clear();
			b.data[i] ^= (char)changes[k];
		}
	assert_int_equal(check(&b), 0);
	print_message("%u of %zu refused\n", refused, b.size * sizeof(changes));
	assert_true(refused > b.size);
	tenon_buffer_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_samples_are_accepted),
		cmocka_unit_test(registers_that_are_not_known_are_refused),
		cmocka_unit_test(tasks_that_lead_to_others_are_refused),
		cmocka_unit_test(addresses_are_those_of_regions),
		cmocka_unit_test(accesses_stay_in_their_regions),
		cmocka_unit_test(readers_that_work_have_addresses),
		cmocka_unit_test(a_task_sets_what_its_units_use),
		cmocka_unit_test(units_are_known_and_the_dpu_is_one),
		cmocka_unit_test(tasks_have_their_form),
		cmocka_unit_test(other_chips_are_refused),
		cmocka_unit_test(commands_are_shown_as_text),
		cmocka_unit_test(damaged_payloads_are_read_without_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
