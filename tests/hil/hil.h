/* SPDX-License-Identifier: MIT */
/*
 * One suite for all boards, which a program for each board runs: every board has to give the same results.
 *
 * The cases share the board; each begins with a session of its own and zeroed memory.
 */
#ifndef TESTS_HIL_HIL_H
#define TESTS_HIL_HIL_H

#include "tests/hil/rig.h"
#include "tests/unit/suite.h"

/* which board the program is for, and whether "make check" runs it or only "make check-hil" */
extern const char *const hil_board;
extern const bool hil_always;

/* What a board of a fake needs: called before the board is looked for, returns why it cannot be tried; and when it is open. */
const char *hil_prepare(void) __attribute__((weak));
void hil_opened(struct board *board) __attribute__((weak));

extern struct rig hil;

/* a case; lists end with one that has no name */
struct hil_case {
	const char *name;
	void (*run)(void);
};

#define HIL_CASE(function)                                                                         \
	{                                                                                          \
#function, function                                                                \
	}

extern const struct hil_case hil_packet_cases[], hil_call_cases[], hil_stream_cases[],
	hil_session_cases[], hil_fault_cases[], hil_campaign_cases[];

/* what emulators and sanitizers make slow is done less often */
size_t hil_count(size_t sim, size_t board);
bool hil_is_sim(void);
/* the board is a process that the host started, and that ends with it */
bool hil_is_process(void);
/* of random numbers: SEED of the environment, or 1 */
uint64_t hil_seed(void);
/* a model of logic, cycle by cycle: many times slower than a core that is emulated */
bool hil_is_clocked(void);

#define assert_ok(call) assert_int_equal_at((call), 0, __FILE__, __LINE__)
static inline void assert_int_equal_at(int found, int want, const char *file, int line)
{
	if (found == want) {
		tenon_error_clear();
		return;
	}
	print_error("status %d, not %d: %s\n", found, want, tenon_error_message());
	_fail(file, line);
}

/* Random packets of a seed, and what the reference makes of them: equal, or the case fails. */
void hil_compare_stream(uint64_t seed, size_t packets);

/* Run a packet that has to fault, then begin anew. */
#define assert_faults(code, ...)                                                                   \
	assert_faults_at(code, &(__VA_ARGS__), sizeof(__VA_ARGS__), __FILE__, __LINE__)
struct mortise_fault assert_faults_at(uint32_t code, const void *packet, size_t size,
				      const char *file, int line);

#endif /* TESTS_HIL_HIL_H */
