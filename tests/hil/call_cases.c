/* SPDX-License-Identifier: MIT */
/* Functions of loaded code, also those that do wrong. */
#include <sys/mman.h>

#include "tests/hil/hil.h"

/*
 * Four functions, as a compiler makes them of
 *	store: ((uint32_t *)arguments[0])[group->group[0]] = arguments[1]; return 0
 *	fails: return 7
 *	hangs: for (;);
 *	wild:  *(uint32_t *)arguments[0] = 1; return 0
 * and one that sets all registers of conditions, counts for longer than a timer waits, and returns 0 if they are the same
 */
struct code {
	uint32_t machine, bits;
	uint32_t store, fails, hangs, wild; /* offsets; odd for Thumb */
	uint32_t keeps;			    /* 0 where it is not needed */
	size_t size;
	const void *bytes;
};

static const uint32_t rv32_code[] = {
	0x0005a783, 0x00052703, 0x00279793, 0x00e787b3, 0x00852703, 0x00000513,
	0x00e7a023, 0x00008067, 0x00700513, 0x00008067, 0x0000006f, 0x00052783,
	0x00100713, 0x00000513, 0x00e7a023, 0x00008067,
};
static const uint32_t rv64_code[] = {
	0x0005e783, 0x00053703, 0x00279793, 0x00e787b3, 0x00852703, 0x00000513,
	0x00e7a023, 0x00008067, 0x00700513, 0x00008067, 0x0000006f, 0x00053783,
	0x00100713, 0x00000513, 0x00e7a023, 0x00008067,
};
static const uint16_t cm3_code[] = {
	0x680a, 0x6803, 0x6881, 0x2000, 0xf843, 0x1022, 0x4770, 0x2007,
	0x4770, 0xe7fe, 0x2201, 0x6803, 0x2000, 0x601a, 0x4770,
};
static const uint32_t hexagon_code[] = {
	0x70604002, 0x78004000, 0x00030011, 0xc4014341, 0x91c2c022, 0x529f4000, 0xa181c200,
	0x48703fc0, 0x5800c000, 0x48000001, 0x529f4000, 0x3c41c001, 0x780054a2, 0x001344b4,
	0x7800c003, 0x6222c004, 0xbfe37fe3, 0x2482e000, 0x6a04c004, 0xf1644200, 0x529fc000,
};
static const uint8_t x86_64_code[] = {
	0x8b, 0x16, 0x48, 0x8b, 0x07, 0x48, 0x8d, 0x04, 0x90, 0x48, 0x8b, 0x57, 0x08,
	0x89, 0x10, 0x31, 0xc0, 0xc3, 0xb8, 0x07, 0x00, 0x00, 0x00, 0xc3, 0xeb, 0xfe,
	0x48, 0x8b, 0x07, 0xc7, 0x00, 0x01, 0x00, 0x00, 0x00, 0x31, 0xc0, 0xc3,
};

static const struct code codes[] = {
	{ MORTISE_MACHINE_RISCV, 32, 0, 32, 40, 44, 0, sizeof(rv32_code), rv32_code },
	{ MORTISE_MACHINE_RISCV, 64, 0, 32, 40, 44, 0, sizeof(rv64_code), rv64_code },
	{ MORTISE_MACHINE_ARM, 32, 1, 15, 19, 21, 0, sizeof(cm3_code), cm3_code },
	{ MORTISE_MACHINE_HEXAGON, 32, 0, 28, 32, 36, 48, sizeof(hexagon_code), hexagon_code },
	{ MORTISE_MACHINE_X86_64, 64, 0, 18, 24, 26, 0, sizeof(x86_64_code), x86_64_code },
};

static uint64_t code_at;

static struct mortise_header op(uint8_t opcode)
{
	return (struct mortise_header){ opcode, 0, 0, 0 };
}

/* Put the functions for this machine into executable memory; skips the case where there are none. */
static const struct code *load(void)
{
	uint8_t *to = board_memory(hil.board)->base + RIG_CODE;
	const struct code *c = NULL;
	struct ring_report r;
	size_t i;

	ring_report(hil.ring, &r);
	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].machine == r.identity.machine &&
		    codes[i].bits == r.identity.address_bits)
			c = &codes[i];
	if (!c) {
		print_message("# skip: no code for machine %u\n", r.identity.machine);
		skip();
	}
	if (hil_is_sim())
		assert_int_equal(mprotect(to, 4096, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	memcpy(to, c->bytes, c->size);
	code_at = board_address(hil.board) + RIG_CODE;
	return c;
}

/* a call with two arguments: a buffer and a number */
struct call {
	struct mortise_call call;
	struct mortise_argument arguments[2];
};

static struct call call_of(uint32_t function, uint64_t buffer, uint32_t size, uint32_t value)
{
	return (struct call){
		.call = { .header = op(MORTISE_OP_CALL),
			  .function = code_at + function,
			  .groups = { 1, 1, 1 },
			  .threads = { 1, 1, 1 },
			  .count = 2 },
		.arguments = { { buffer, size, size ? MORTISE_WRITE : 0 }, { value, 0, 0 } },
	};
}

static void a_call_runs_its_function_for_each_group(void)
{
	const struct code *c = load();
	struct call call = call_of(c->store, rig_at(&hil, 0), 20, 42);
	uint32_t i;

	call.call.groups[0] = 5;
	call.call.groups[2] = 2;
	assert_ok(RUN(&hil, (struct mortise_header){ MORTISE_OP_BARRIER, 0, 0, 0 }));
	assert_ok(RUN(&hil, call));
	for (i = 0; i < 5; i++)
		assert_int_equal(*rig_word(&hil, 4 * i), 42);
	assert_int_equal(*rig_word(&hil, 20), 0);
}

static void a_function_that_fails_faults(void)
{
	const struct code *c = load();
	struct call call = call_of(c->fails, rig_at(&hil, 0), 4, 0);
	struct mortise_fault f = assert_faults(MORTISE_FAULT_KERNEL, call);

	assert_int_equal(f.detail, 7);
}

static void calls_that_break_a_rule_are_refused(void)
{
	const struct code *c = load();
	struct call call = call_of(c->store, rig_at(&hil, 0), RIG_CODE, 0);
	struct mortise_fault f;

	assert_faults(MORTISE_FAULT_ADDRESS, call); /* the buffer is longer than its region */
	if (c->machine == MORTISE_MACHINE_HEXAGON) {
		call = call_of(c->store + 2, rig_at(&hil, 0), 4, 0);
		assert_faults(MORTISE_FAULT_ADDRESS, call); /* inside an instruction */
	}
	call = call_of(c->store, rig_at(&hil, 0), 4, 0);
	call.arguments[0].access = MORTISE_WRITE | MORTISE_EXECUTE;
	assert_faults(MORTISE_FAULT_ADDRESS, call);
	call = call_of(c->store, rig_at(&hil, 0), 4, 0);
	call.call.function = rig_at(&hil, 0); /* cannot be executed */
	assert_faults(MORTISE_FAULT_ADDRESS, call);
	call = call_of(c->store, rig_at(&hil, 0), 4, 0);
	call.call.count = 3;
	assert_faults(MORTISE_FAULT_FIELD, call);
	call.call.count = UINT32_MAX;
	f = assert_faults(MORTISE_FAULT_FIELD, call);
	assert_int_equal(f.detail, offsetof(struct mortise_call, count));
	call = call_of(c->store, rig_at(&hil, 0), 4, 0);
	call.call.groups[1] = 0;
	assert_faults(MORTISE_FAULT_FIELD, call);
	call = call_of(c->store, rig_at(&hil, 0), 4, 0);
	call.arguments[1].size = 1;
	assert_faults(MORTISE_FAULT_FIELD, call);
	assert_int_equal(*rig_word(&hil, 0), 0);
}

static void need_timer(void)
{
	struct ring_report r;

	ring_report(hil.ring, &r);
	if (r.identity.features & MORTISE_FEATURE_WATCHDOG)
		return;
	print_message("# skip: the board has no timer to stop functions with\n");
	skip();
}

static void the_watchdog_ends_a_function_that_hangs(void)
{
	const struct code *c = load();
	struct call call = call_of(c->hangs, rig_at(&hil, 0), 4, 0);
	struct mortise_fault f;

	need_timer();
	ring_close(hil.ring);
	hil.setup.watchdog_ms = 100;
	rig_begin(&hil);
	f = assert_faults(MORTISE_FAULT_WATCHDOG, call);
	assert_true(f.pc >= code_at && f.pc < code_at + c->size);
	call = call_of(c->store, rig_at(&hil, 0), 4, 9);
	assert_ok(RUN(&hil, call));
	assert_int_equal(*rig_word(&hil, 0), 9);
	ring_close(hil.ring);
	hil.setup.watchdog_ms = 0;
	rig_begin(&hil);
}

static void a_new_session_ends_a_function_that_hangs(void)
{
	const struct code *c = load();
	struct call call = call_of(c->hangs, rig_at(&hil, 0), 4, 0);
	uint64_t sequence;

	need_timer();
	assert_ok(ring_emit(hil.ring, &call, sizeof(call), RING_NOW, &sequence));
	assert_int_equal(ring_wait(hil.ring, sequence, in_ms(50)), -TENON_E_TIMEOUT);
	assert_error_has("last packet call");
	assert_ok(ring_restart(hil.ring, in_ms(60000)));
	assert_int_equal(ring_wait(hil.ring, sequence, in_ms(50)), -TENON_E_LOST);
	call = call_of(c->store, rig_at(&hil, 0), 4, 9);
	assert_ok(RUN(&hil, call));
}

/* Conditions of Hexagon are in registers of their own, which QEMU leaves out of the context of a signal. */
static void a_timer_leaves_a_function_its_conditions(void)
{
	const struct code *c = load();
	struct call call = call_of(c->keeps, rig_at(&hil, 0), 4, 0);

	if (!c->keeps) {
		print_message("# skip: nothing is saved by the firmware here\n");
		skip();
	}
	need_timer();
	assert_ok(RUN(&hil, (struct mortise_header){ MORTISE_OP_BARRIER, 0, 0, 0 }));
	assert_ok(RUN(&hil, call));
}

static void a_wild_write_faults(void)
{
	const struct code *c = load();
	/* where these boards have nothing */
	uint32_t nowhere = c->machine == MORTISE_MACHINE_ARM ? 0x70000000 : 0x11000000;
	struct call call = call_of(c->wild, 0, 0, 0);
	struct mortise_fault f;

	need_timer();
	call.arguments[0] = (struct mortise_argument){ nowhere, 0, 0 };
	f = assert_faults(MORTISE_FAULT_TRAP, call);
	assert_int_equal(f.address, nowhere);
	assert_true(f.pc >= code_at && f.pc < code_at + c->size);
	call = call_of(c->store, rig_at(&hil, 0), 4, 9);
	assert_ok(RUN(&hil, call));
}

const struct hil_case hil_call_cases[] = {
	HIL_CASE(a_call_runs_its_function_for_each_group),
	HIL_CASE(a_function_that_fails_faults),
	HIL_CASE(calls_that_break_a_rule_are_refused),
	HIL_CASE(the_watchdog_ends_a_function_that_hangs),
	HIL_CASE(a_new_session_ends_a_function_that_hangs),
	HIL_CASE(a_timer_leaves_a_function_its_conditions),
	HIL_CASE(a_wild_write_faults),
	{ NULL, NULL },
};
