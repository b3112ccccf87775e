/* SPDX-License-Identifier: MIT */
/* Which register commands are accepted, and each reason to refuse some. No device is needed. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

#include "devices/cmdstream/cmdstream_payload.h"
#include "devices/rocket/rocket_device.h"
#include "devices/rocket/rocket_walk.h"
#include "tests/npu/rocket_stream.h"
#include "tests/unit/suite.h"

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
	err = rocket_check(&b);
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

/* Pooling of what the DPU hands over, to 4 x 2 pixels of 32 channels, with more words. */
static void put_pool(void)
{
	put_word(&e, ROCKET_TARGET_DPU, 0x400c, 0x1e2);
	put_word(&e, ROCKET_TARGET_PPU, 0x6004, 0xe);
	put_word(&e, ROCKET_TARGET_PPU, 0x6018, 3);
	put_word(&e, ROCKET_TARGET_PPU, 0x601c, 1);
	put_word(&e, ROCKET_TARGET_PPU, 0x6020, 31);
	put_word(&e, ROCKET_TARGET_PPU, 0x6024, 0x11);
	put_address(&e, ROCKET_TARGET_PPU, 0x6070, SAMPLE_OUTPUT, 0);
	put_word(&e, ROCKET_TARGET_PPU, 0x607c, 128);
	put_word(&e, ROCKET_TARGET_PPU, 0x6084, 128);
	put_word(&e, ROCKET_TARGET_PPU, 0x60dc, 3);
}

#define POOLED(status, why, ...)                                                                   \
	do {                                                                                       \
		begin();                                                                           \
		put_convolution(&e, SAMPLE_INPUT, SAMPLE_OUTPUT);                                  \
		put_pool();                                                                        \
		__VA_ARGS__;                                                                       \
		put_end(&e, SAMPLE_UNITS | ROCKET_UNIT_PPU);                                       \
		end(status, why);                                                                  \
	} while (0)

static void the_samples_are_accepted(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	unsigned int i;

	(void)state;
	for (i = 1; i <= 2; i++) {
		assert_int_equal(sample_stream(i, &b), 0);
		if (rocket_check(&b))
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
	REFUSED(-TENON_E_FORMAT, "is at 8 of region 0 (input) with alignment 16",
		put_address(&e, ROCKET_TARGET_CNA, 0x1070, SAMPLE_INPUT, 8));
	REFUSED(-TENON_E_FORMAT, "accesses 17 bytes at 0 of region 1 (constant), which has 16",
		put_word(&e, ROCKET_TARGET_CNA, 0x1030, 17));
	/* the weights of the task before */
	REFUSED(0, "", put_word(&e, ROCKET_TARGET_CNA, 0x1030, 17);
		put_word(&e, ROCKET_TARGET_CNA, 0x1040, 0x2021));
}

static void put_dpu(unsigned int at, uint32_t value)
{
	put_word(&e, ROCKET_TARGET_DPU, at, value);
}

#define TOO_FAR(bytes) "accesses " bytes " bytes at 0 of region 2 (output), which has 256"

/* Every register that moves results, or makes more of them. */
static void results_stay_in_their_region(void **state)
{
	(void)state;
	REFUSED(-TENON_E_FORMAT, TOO_FAR("272"), put_dpu(0x4024, 144));
	/* lines that are longer in memory, by either field */
	REFUSED(-TENON_E_FORMAT, TOO_FAR("272"), put_dpu(0x4038, 1));
	REFUSED(-TENON_E_FORMAT, TOO_FAR("288"), put_dpu(0x4038, 2 << 16));
	/* channels that the unit fills up to, and of the network */
	REFUSED(-TENON_E_FORMAT, TOO_FAR("512"), put_dpu(0x403c, 19 << 16 | 63);
		put_dpu(0x4058, 63));
	REFUSED(-TENON_E_FORMAT, TOO_FAR("512"), put_dpu(0x403c, 63 << 16 | 31));
	/* groups of one surface, and where the next one is */
	REFUSED(-TENON_E_FORMAT, TOO_FAR("384"), put_dpu(0x4050, 2));
	REFUSED(0, "", put_dpu(0x4050, 2); put_dpu(0x40c0, 128));
	REFUSED(-TENON_E_FORMAT, TOO_FAR("4294967408"), put_dpu(0x4024, 0xfffffff0));
}

static void channels_take_the_room_of_their_precision(void **state)
{
	static const struct {
		uint32_t precision;
		const char *why;
	} wider[] = { { 1, TOO_FAR("512") },
		      { 2, TOO_FAR("512") },
		      { 3, TOO_FAR("512") },
		      { 4, TOO_FAR("1024") },
		      { 5, TOO_FAR("1024") } };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wider) / sizeof(*wider); i++) {
		REFUSED(-TENON_E_FORMAT, wider[i].why, put_dpu(0x4010, wider[i].precision << 29));
		POOLED(-TENON_E_FORMAT, wider[i].why,
		       put_word(&e, ROCKET_TARGET_PPU, 0x6084, wider[i].precision));
	}
	/* half as many of twice the size */
	REFUSED(0, "", put_dpu(0x4010, 2u << 29); put_dpu(0x403c, 15 << 16 | 15);
		put_dpu(0x4058, 15));
	for (i = 6; i < 8; i++)
		REFUSED(-TENON_E_UNSUPPORTED, "whose extents are not known",
			put_dpu(0x4010, (uint32_t)i << 29));
	POOLED(-TENON_E_UNSUPPORTED, "whose extents are not known",
	       put_word(&e, ROCKET_TARGET_PPU, 0x6084, 6));
}

static void sizes_of_writing_are_those_of_the_cube(void **state)
{
	(void)state;
	REFUSED(-TENON_E_FORMAT, "0x4058 (WDMA_SIZE_0) is 0x3f, and the cube makes it 0x1f",
		put_dpu(0x4058, 63));
	REFUSED(-TENON_E_FORMAT, "WDMA_SIZE_0", put_dpu(0x4058, 1 << 27 | 31));
	REFUSED(-TENON_E_FORMAT, "0x405c (WDMA_SIZE_1) is 0x20003, and the cube makes it 0x10003",
		put_dpu(0x405c, 2 << 16 | 3));
	REFUSED(-TENON_E_FORMAT, "WDMA_SIZE_1", put_dpu(0x405c, 1 << 16 | 4));
}

static void forms_whose_extents_are_not_known_are_refused(void **state)
{
	(void)state;
	REFUSED(-TENON_E_UNSUPPORTED, "with its bits 0x2000000, where results go is not known",
		put_dpu(0x400c, 0x1e4 | 1u << 25));
	REFUSED(-TENON_E_UNSUPPORTED, "with its bits 0x40000000",
		put_dpu(0x400c, 0x1e4 | 1u << 30));
	REFUSED(-TENON_E_UNSUPPORTED, "0x4010 (DATA_FORMAT) is 0x8", put_dpu(0x4010, 8));
	POOLED(-TENON_E_UNSUPPORTED, "0x6024 (OPERATION_MODE_CFG)",
	       put_word(&e, ROCKET_TARGET_PPU, 0x6024, 1u << 30 | 0x11));
	POOLED(-TENON_E_UNSUPPORTED, "0x60dc (MISC_CTRL)",
	       put_word(&e, ROCKET_TARGET_PPU, 0x60dc, 0x83));
}

static void what_is_pooled_stays_in_its_region(void **state)
{
	(void)state;
	POOLED(-TENON_E_FORMAT, TOO_FAR("288"), put_word(&e, ROCKET_TARGET_PPU, 0x6018, 4));
	POOLED(-TENON_E_FORMAT, TOO_FAR("320"), put_word(&e, ROCKET_TARGET_PPU, 0x601c, 2));
	POOLED(-TENON_E_FORMAT, TOO_FAR("384"), put_word(&e, ROCKET_TARGET_PPU, 0x6020, 32));
	POOLED(-TENON_E_FORMAT, TOO_FAR("272"), put_word(&e, ROCKET_TARGET_PPU, 0x607c, 144));
	POOLED(-TENON_E_FORMAT, TOO_FAR("272"),
	       put_word(&e, ROCKET_TARGET_PPU, 0x6024, 1 << 16 | 0x11));
	POOLED(-TENON_E_UNSUPPORTED, "0x607c (DST_SURF_STRIDE) is 0x8",
	       put_word(&e, ROCKET_TARGET_PPU, 0x607c, 8));
	/* of one surface nobody uses it */
	POOLED(0, "", put_word(&e, ROCKET_TARGET_PPU, 0x607c, 8);
	       put_word(&e, ROCKET_TARGET_PPU, 0x6020, 15));
}

static void registers_are_taken_by_turns_as_linux_does(void **state)
{
	static const struct {
		unsigned int target;
		unsigned int at;
	} units[] = { { ROCKET_TARGET_CNA, 0x1004 }, { ROCKET_TARGET_CORE, 0x3004 },
		      { ROCKET_TARGET_DPU, 0x4004 }, { ROCKET_TARGET_DPU_RDMA, 0x5004 },
		      { ROCKET_TARGET_PPU, 0x6004 }, { ROCKET_TARGET_PPU_RDMA, 0x7004 } };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(units) / sizeof(*units); i++) {
		REFUSED(0, "", put_word(&e, units[i].target, units[i].at, 0xe));
		REFUSED(-TENON_E_UNSUPPORTED, "(S_POINTER) is 0xf, want 0xe",
			put_word(&e, units[i].target, units[i].at, 0xf));
		REFUSED(-TENON_E_UNSUPPORTED, "(S_POINTER) is 0x1000000e",
			put_word(&e, units[i].target, units[i].at, 0x1000000e));
	}
}

/* Without a bound, checking them takes the square of the payload's size. */
static void kernels_share_code_sixteen_times(void **state)
{
	static const uint32_t arguments[] = { SAMPLE_INPUT, SAMPLE_OUTPUT };
	static const uint32_t config[] = { ROCKET_SOC_RK3588 };
	struct tenon_buffer b = TENON_BUFFER_INIT;
	char name[8];
	unsigned int more, i;

	(void)state;
	for (more = 0; more < 2; more++) {
		begin();
		put_convolution(&e, SAMPLE_INPUT, SAMPLE_OUTPUT);
		put_end(&e, SAMPLE_UNITS);
		for (i = 0; i < TENON_CMDSTREAM_SHARED + more; i++) {
			snprintf(name, sizeof(name), "k%u", i);
			cmdstream_end_kernel(&e, name, arguments, 2);
			e.begin = 0;
		}
		e.begin = e.code.size;
		assert_int_equal(cmdstream_flush(&e, "rocket", config, 1, &b), 0);
		cmdstream_emitter_fini(&e);
		if (rocket_check(&b) != (more ? -TENON_E_UNSUPPORTED : 0))
			fail_msg("%u more: %s", more, tenon_error_message());
		if (more)
			assert_error_has("Give each kernel its own code");
		tenon_buffer_fini(&b);
		b = (struct tenon_buffer)TENON_BUFFER_INIT;
	}
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
	POOLED(0, "", (void)0);
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

static void other_chips_are_refused_and_known_ones_with_the_reason(void **state)
{
	static const uint32_t arguments[] = { SAMPLE_INPUT, SAMPLE_OUTPUT };
	static const struct {
		uint32_t count, config[2];
		int status;
		const char *why;
	} cases[] = {
		{ 0, { 0 }, -TENON_E_FORMAT, "rocket has one" },
		{ 2, { ROCKET_SOC_RK3588, 1 }, -TENON_E_FORMAT, "rocket has one" },
		{ 1, { 3562 }, -TENON_E_UNSUPPORTED, "register commands for SoC 3562" },
		{ 1, { ROCKET_SOC_RK3576 }, -TENON_E_UNSUPPORTED, "RK3576 cannot be checked: its" },
		{ 1, { ROCKET_SOC_RK3568 }, -TENON_E_UNSUPPORTED, "RK3568 cannot be checked: its" },
	};
	struct tenon_buffer b = TENON_BUFFER_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin();
		put_convolution(&e, SAMPLE_INPUT, SAMPLE_OUTPUT);
		put_end(&e, SAMPLE_UNITS);
		cmdstream_end_kernel(&e, "main", arguments, 2);
		assert_int_equal(cmdstream_flush(&e, "rocket", cases[i].config, cases[i].count, &b),
				 0);
		cmdstream_emitter_fini(&e);
		assert_int_equal(rocket_check(&b), cases[i].status);
		assert_error_has(cases[i].why);
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
	assert_non_null(strstr(text.data, "main(region 0, region 2): 256 bytes at 0x0\n"
					  "  0x0000  CNA S_POINTER = 0xe\n"
					  "  0x0008  CNA CBUF_CON0 = 0x21\n"
					  "  0x0010  CNA WEIGHT_SIZE0 = 0x10\n"
					  "  0x0018  CNA FEATURE_DATA_ADDR = region 0 + 0x0\n"));
	assert_non_null(strstr(text.data, "  0x0030  CORE ? (0x3030) = 0x0\n"));
	assert_non_null(strstr(text.data, "  0x0048  DPU DST_BASE_ADDR = region 2 + 0x0\n"));
	assert_non_null(strstr(text.data, "  ready\n"));
	assert_non_null(strstr(text.data, "  enable CNA CORE DPU DPU_RDMA\n"));
	tenon_buffer_fini(&text);
	tenon_buffer_fini(&b);
}

/* Text is made of code that was not checked, too. */
static void units_without_a_name_are_shown_as_numbers(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT, text = TENON_BUFFER_INIT;
	struct cmdstream_view v = { .out = &text };
	struct cmdstream_kernel k;
	struct tenon_cursor c;
	struct cmdstream s;

	(void)state;
	begin();
	put_word(&e, ROCKET_TARGET_ENABLE, ROCKET_ENABLE, 0x82 | ROCKET_UNIT_DPU);
	put_word(&e, ROCKET_TARGET_ENABLE, ROCKET_ENABLE + 4, ROCKET_UNIT_DPU);
	while (e.code.size % ROCKET_TASK_ALIGNMENT)
		put_word(&e, 0, 0, 0);
	assert_int_equal(end_sample(&e, &b), 0);
	c = tenon_cursor_of(b.data, b.size, "payload", 0);
	assert_int_equal(cmdstream_read(&c, &s), 0);
	assert_int_equal(cmdstream_kernel(&s, 0, &k), 0);
	v.stream = &s;
	v.kernel = &k;
	v.code = tenon_cursor_of(s.code.data, s.code.size, "payload", 0);
	assert_true(rocket_show(&v));
	assert_false(rocket_show(&v));
	tenon_buffer_u8(&text, 0);
	assert_string_equal(text.data, "  0x0000  enable DPU 0x82\n");
	tenon_buffer_fini(&text);
	tenon_buffer_fini(&b);
}

/* ---- tenon verify --kind rocket */

/* Return: the command's exit status, with what it said in @said. */
static int verify(const struct tenon_buffer *b, const char *options, char said[2048])
{
	char path[] = "/tmp/rocket-XXXXXX", command[512];
	int fd = mkstemp(path), status;
	size_t size;
	FILE *f;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, b->data, b->size), b->size);
	close(fd);
	snprintf(command, sizeof(command),
		 "$EMULATOR \"$TENON_COMMAND\" verify --kind rocket %s %s 2>&1", options, path);
	f = popen(command, "r");
	assert_non_null(f);
	size = fread(said, 1, 2047, f);
	said[size] = 0;
	status = pclose(f);
	unlink(path);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define VERIFIES(status, words, options)                                                           \
	do {                                                                                       \
		const int found = verify(&b, options, said);                                       \
		if (found != (status) || !strstr(said, words))                                     \
			fail_msg("status %d: %s", found, said);                                    \
	} while (0)

static void the_command_verifies_with_offset_and_reason(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	char said[2048];

	(void)state;
	if (!getenv("TENON_COMMAND")) {
		print_message("SKIP: TENON_COMMAND is not set: there is no command to run\n");
		skip();
	}
	assert_int_equal(sample_stream(2, &b), 0);
	VERIFIES(0, "no fault: for RK3588, kernels: 1", "");
	VERIFIES(0, "main: 64 words, relocations: 6", "");
	VERIFIES(0, "\"valid\":\ttrue", "--json");
	b.size--;
	VERIFIES(3, " at 0x", "");
	b.size++;
	tenon_buffer_fini(&b);
	begin();
	put_convolution(&e, SAMPLE_INPUT, SAMPLE_OUTPUT);
	put_dpu(0x4024, 144);
	put_end(&e, SAMPLE_UNITS);
	assert_int_equal(end_sample(&e, &b), 0);
	VERIFIES(3, TOO_FAR("272"), "");
	VERIFIES(3, " at 0x", "");
	VERIFIES(3, "\"fault\"", "--json");
	tenon_buffer_fini(&b);
}

/* Return: the exit status of tenon verify of a module that has the stream, with what it said in @said. */
static int verify_in_module(const struct tenon_buffer *b, char said[2048])
{
	char folder[] = "/tmp/rocket-XXXXXX", command[512];
	size_t size;
	int status;
	FILE *f;

	assert_non_null(mkdtemp(folder));
	snprintf(command, sizeof(command), "%s/main.rocket", folder);
	f = fopen(command, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(b->data, 1, b->size, f), b->size);
	assert_int_equal(fclose(f), 0);
	snprintf(command, sizeof(command),
		 "cd %s && { $EMULATOR \"$TENON_COMMAND\" link -o main.so main.rocket=rocket && "
		 "$EMULATOR "
		 "\"$TENON_COMMAND\" verify main.so; } 2>&1; s=$?; rm -r %s; exit $s",
		 folder, folder);
	f = popen(command, "r");
	assert_non_null(f);
	size = fread(said, 1, 2047, f);
	said[size] = 0;
	status = pclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void streams_in_modules_are_verified(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	char said[2048];

	(void)state;
	if (!getenv("TENON_COMMAND")) {
		print_message("SKIP: TENON_COMMAND is not set: there is no command to run\n");
		skip();
	}
	assert_int_equal(sample_stream(2, &b), 0);
	if (verify_in_module(&b, said) || !strstr(said, "no fault"))
		fail_msg("%s", said);
	tenon_buffer_fini(&b);
	begin();
	put_convolution(&e, SAMPLE_INPUT, SAMPLE_OUTPUT);
	put_dpu(0x4024, 144);
	put_end(&e, SAMPLE_UNITS);
	assert_int_equal(end_sample(&e, &b), 0);
	if (verify_in_module(&b, said) != 3 || !strstr(said, TOO_FAR("272")))
		fail_msg("%s", said);
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
		cmocka_unit_test(results_stay_in_their_region),
		cmocka_unit_test(channels_take_the_room_of_their_precision),
		cmocka_unit_test(sizes_of_writing_are_those_of_the_cube),
		cmocka_unit_test(forms_whose_extents_are_not_known_are_refused),
		cmocka_unit_test(what_is_pooled_stays_in_its_region),
		cmocka_unit_test(registers_are_taken_by_turns_as_linux_does),
		cmocka_unit_test(kernels_share_code_sixteen_times),
		cmocka_unit_test(readers_that_work_have_addresses),
		cmocka_unit_test(a_task_sets_what_its_units_use),
		cmocka_unit_test(units_are_known_and_the_dpu_is_one),
		cmocka_unit_test(tasks_have_their_form),
		cmocka_unit_test(other_chips_are_refused_and_known_ones_with_the_reason),
		cmocka_unit_test(commands_are_shown_as_text),
		cmocka_unit_test(units_without_a_name_are_shown_as_numbers),
		cmocka_unit_test(the_command_verifies_with_offset_and_reason),
		cmocka_unit_test(streams_in_modules_are_verified),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
