/* SPDX-License-Identifier: MIT */
/* Read the words of each task, check registers and values, and name what is accessed. */
#include "devices/rocket/rocket_walk.h"

#include <inttypes.h>
#include <string.h>

#include "devices/rocket/rocket_chip.h"
#include "devices/rocket/rocket_registers.h"
#include "devices/rocket/rocket_task.h"
#include "lib/brief_errors.h"

/* byte of a word where its value begins */
#define VALUE 2

#define ADDRESS_BYTES 4

/* of its window; a unit has two sets of registers, and by this value programs and works with them by turns */
#define S_POINTER 0x004
#define TURNS	  0xeu

const char *rocket_setter(uint32_t n)
{
	return "a register";
}

int rocket_check_config(const struct cmdstream *s)
{
	const struct rocket_chip *chip;

	if (s->config_count != 1)
		return tenon_error(-TENON_E_FORMAT,
				   "%s: %u configuration words; rocket has one, the number of the "
				   "SoC",
				   s->name, s->config_count);
	chip = rocket_chip_of_soc(s->config[0]);
	if (!chip)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: register commands for SoC %u; Linux's driver rocket drives "
				   "RK%u. Compile it for that",
				   s->name, s->config[0], ROCKET_SOC_RK3588);
	if (chip->unknown)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: register commands for RK%u cannot be checked: %s", s->name,
				   chip->soc, chip->unknown);
	return 0;
}

/* ---- words */

/* The number of the register in its window is the same for all units that have it. */
static bool is_pointer(unsigned int at)
{
	return (at & 0xfff) == S_POINTER;
}

static int check_value(const struct rocket_task *t, const struct rocket_register *r, uint32_t value,
		       unsigned int target)
{
	if ((target == ROCKET_TARGET_PC || !*r->name) && value)
		return cmdstream_error(
			t->walk, t->at, -TENON_E_FORMAT, "register 0x%04x (%s) is 0x%x, want 0%s",
			r->at, r->name, value,
			target == ROCKET_TARGET_PC ? ": Linux starts each task, and none the next"
						   : "");
	if (is_pointer(r->at) && value != TURNS)
		return cmdstream_error(
			t->walk, t->at, -TENON_E_UNSUPPORTED,
			"register 0x%04x (%s) is 0x%x, want 0x%x, as Linux writes it: "
			"by others a unit would take the registers of another task",
			r->at, r->name, value, TURNS);
	return 0;
}

static int write_register(struct rocket_task *t, uint64_t word)
{
	const unsigned int target = rocket_word_target(word), at = rocket_word_register(word);
	const struct rocket_register *r = rocket_register_of(target, at);
	const bool is_relocated = cmdstream_is_relocated(t->walk, t->at + VALUE);
	size_t i;
	int err;

	if (!r)
		return cmdstream_error(t->walk, t->at, -TENON_E_FORMAT,
				       "target 0x%04x has no register 0x%04x that commands write",
				       target, at);
	i = (size_t)(r - rocket_registers);
	t->value[i] = rocket_word_value(word);
	t->is_set[i] = true;
	t->is_placed[i] = false;
	if (r->is_address && (is_relocated || t->value[i])) {
		err = cmdstream_address(t->walk, t->at + VALUE, ADDRESS_BYTES, r->name,
					&t->places[i]);
		t->is_placed[i] = !err;
		return err;
	}
	return check_value(t, r, t->value[i], target);
}

static int read_word(struct rocket_task *t, uint64_t *word)
{
	t->at = (uint64_t)(t->walk->code.at - t->walk->code.start);
	return tenon_cursor_u64(&t->walk->code, word);
}

/* The two last words. */
static int end_task(struct rocket_task *t, uint64_t word)
{
	int err;

	if (word != ROCKET_READY)
		return cmdstream_error(t->walk, t->at, -TENON_E_FORMAT,
				       "0x%016" PRIx64 " where 0x%016llx comes before the last "
				       "word of a task",
				       word, ROCKET_READY);
	err = read_word(t, &word);
	if (err)
		return err;
	if (rocket_word_target(word) != ROCKET_TARGET_ENABLE ||
	    rocket_word_register(word) != ROCKET_ENABLE)
		return cmdstream_error(t->walk, t->at, -TENON_E_FORMAT,
				       "0x%016" PRIx64 " where a task ends by enabling its units",
				       word);
	if ((t->at - t->begin) / ROCKET_WORD + 1 > ROCKET_TASK_MOST)
		return cmdstream_error(t->walk, t->begin, -TENON_E_FORMAT,
				       "a task of %" PRIu64 " words; the NPU counts to %u",
				       (t->at - t->begin) / ROCKET_WORD + 1, ROCKET_TASK_MOST);
	return rocket_check_units(t, rocket_word_value(word));
}

static int skip_padding(struct rocket_task *t)
{
	uint64_t word;
	int err;

	while ((t->walk->code.at - t->walk->code.start) % ROCKET_TASK_ALIGNMENT) {
		err = read_word(t, &word);
		if (err)
			return err;
		if (word)
			return cmdstream_error(t->walk, t->at, -TENON_E_FORMAT,
					       "0x%016" PRIx64 " where zero words fill up to a "
					       "multiple of %d bytes",
					       word, ROCKET_TASK_ALIGNMENT);
	}
	return 0;
}

static int walk_task(struct rocket_task *t)
{
	uint64_t word = 0;
	int err = read_word(t, &word);

	t->begin = t->at;
	if (!err && !word)
		return cmdstream_error(t->walk, t->at, -TENON_E_FORMAT,
				       "a task that begins with a zero word");
	while (!err) {
		if (rocket_word_target(word) == ROCKET_TARGET_READY ||
		    rocket_word_target(word) == ROCKET_TARGET_ENABLE)
			break;
		err = word ? write_register(t, word) : 0;
		err = err ? err : read_word(t, &word);
	}
	err = err ? err : end_task(t, word);
	return err ? err : skip_padding(t);
}

int rocket_walk(struct cmdstream_walk *walk)
{
	struct rocket_task t;
	int err = rocket_check_config(walk->stream);

	while (!err && tenon_cursor_left(&walk->code)) {
		memset(&t, 0, sizeof(t));
		t.walk = walk;
		err = walk_task(&t);
	}
	return err;
}
