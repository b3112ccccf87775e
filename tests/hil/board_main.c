/* SPDX-License-Identifier: MIT */
/* Run the cases of a suite on one board, each with a session of its own. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/hil/hil.h"

#define CASES_MOST 128
#define SKIPPED	   77

static const struct hil_case *const suites[] = {
	hil_packet_cases,  hil_call_cases,  hil_stream_cases,
	hil_session_cases, hil_fault_cases, hil_campaign_cases,
};

struct rig hil;

bool hil_is_sim(void)
{
	return !strcmp(hil_board, "sim");
}

bool hil_is_process(void)
{
	return !hil_is_sim() && strcmp(hil_board, "fastrpc") != 0;
}

bool hil_is_clocked(void)
{
	return !strcmp(hil_board, "rtl");
}

uint64_t hil_seed(void)
{
	const char *text = getenv("SEED");

	return text && *text ? strtoull(text, NULL, 0) : 1;
}

size_t hil_count(size_t sim, size_t board)
{
	return hil_is_sim() ? sim : board;
}

struct mortise_fault assert_faults_at(uint32_t code, const void *packet, size_t size,
				      const char *file, int line)
{
	struct mortise_fault fault;

	assert_int_equal_at(rig_run(&hil, packet, size), -TENON_E_DEVICE, file, line);
	fault = rig_fault(&hil);
	if (fault.code != code) {
		print_error("%s\n", tenon_error_message());
		_assert_int_equal(fault.code, code, file, line);
	}
	tenon_error_clear();
	assert_int_equal_at(ring_restart(hil.ring, in_ms(60000)), 0, file, line);
	return fault;
}

/* A case gets a board that is well, and a session of its own. */
static void prepare(void)
{
	tenon_error_clear();
	if (board_alive(hil.board) || ring_restart(hil.ring, in_ms(5000)))
		rig_reset(&hil);
	tenon_error_clear();
	memset(hil.heap, 0, RIG_CODE - RIG_HEAP);
}

static void run_case(void **state)
{
	const struct hil_case *c = *state;

	prepare();
	c->run();
}

static int open_board(void **state)
{
	(void)state;
	rig_open(&hil, hil_board);
	return 0;
}

static int close_board(void **state)
{
	(void)state;
	rig_close(&hil);
	return 0;
}

/* Why the board cannot be tried here; NULL when it can. */
static const char *reason_to_skip(void)
{
	const struct board_kind *kind = board_kind_find(hil_board);
	const char *full = getenv("FULL"), *hil_run = getenv("HIL"), *emulator = getenv("EMULATOR"),
		   *why;

	if (!kind)
		return "this build does not have the board";
	if (kind->firmware && emulator && *emulator)
		return "this program is emulated itself";
	if (!hil_always && !(full && *full) && !(hil_run && *hil_run))
		return "\"make check-hil\" and FULL=1 run this board";
	why = hil_prepare ? hil_prepare() : NULL;
	if (why)
		return why;
	return kind->ready(kind) ? tenon_error_message() : NULL;
}

int main(void)
{
	static struct CMUnitTest tests[CASES_MOST];
	const char *why = reason_to_skip();
	size_t i, count = 0;
	const struct hil_case *c;

	if (why) {
		printf("%s: %s\n", hil_board, why);
		return SKIPPED;
	}
	for (i = 0; i < sizeof(suites) / sizeof(suites[0]); i++)
		for (c = suites[i]; c->name && count < CASES_MOST; c++)
			tests[count++] = (struct CMUnitTest){ c->name, run_case, NULL, NULL,
							      (void *)(uintptr_t)c };
	return _cmocka_run_group_tests(hil_board, tests, count, open_board, close_board);
}
