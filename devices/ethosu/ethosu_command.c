/* SPDX-License-Identifier: MIT */
/* Take a stream apart into commands, with their names and forms. */
#include "devices/ethosu/ethosu_command.h"

#include <string.h>

#include "lib/brief_errors.h"

/* bit 14 of the first word: a second word follows */
#define TWO_WORDS 0x4000
/* bits of a code that are in use; the hardware may ignore the others */
#define CODE_BITS 0x41ff

static const struct {
	const char *name;
	uint8_t form;
} commands[ETHOSU_REGISTERS] = {
#define ETHOSU_BOTH(name, code, form) { #name, ETHOSU_##form },
#define ETHOSU_OLD(name, code, form)  { #name, ETHOSU_##form },
#define ETHOSU_U85(name, code, form)  { #name, ETHOSU_##form },
#include "devices/ethosu/ethosu_commands.h"
#undef ETHOSU_BOTH
#undef ETHOSU_OLD
#undef ETHOSU_U85
};

/* index of a table by code: bit 14 becomes bit 9 */
#define SLOT(code) (((code)&0x1ff) | ((code)&TWO_WORDS) >> 5)
#define SLOTS	   0x400

/* commands by their code, 0 for none: OP_STOP is found without a table */
static const uint8_t old_codes[SLOTS] = {
#define ETHOSU_BOTH(name, code, form) [SLOT(code)] = ETHOSU_##name,
#define ETHOSU_OLD(name, code, form)  [SLOT(code)] = ETHOSU_##name,
#define ETHOSU_U85(name, code, form)
#include "devices/ethosu/ethosu_commands.h"
#undef ETHOSU_OLD
#undef ETHOSU_U85
};

static const uint8_t u85_codes[SLOTS] = {
#define ETHOSU_OLD(name, code, form)
#define ETHOSU_U85(name, code, form) [SLOT(code)] = ETHOSU_##name,
#include "devices/ethosu/ethosu_commands.h"
#undef ETHOSU_BOTH
#undef ETHOSU_OLD
#undef ETHOSU_U85
};

/* Only U65 has two cores. */
static bool is_u65_only(enum ethosu_register id)
{
	return id == ETHOSU_PARALLEL_MODE ||
	       (id >= ETHOSU_WEIGHT1_BASE && id <= ETHOSU_SCALE1_LENGTH);
}

static int find(uint32_t code, enum ethosu_product product, enum ethosu_register *out)
{
	const uint8_t *codes = product == ETHOSU_PRODUCT_U85 ? u85_codes : old_codes;

	*out = code & ~(uint32_t)CODE_BITS ? 0 : codes[SLOT(code)];
	if ((!*out && code) || (product == ETHOSU_PRODUCT_U55 && is_u65_only(*out)))
		return -TENON_E_FORMAT;
	return 0;
}

/* An address has 40 bits and a length 32; what the hardware does with more is not known. */
static int check_size(const struct ethosu_command *command)
{
	const enum ethosu_form form = commands[command->id].form;
	const unsigned int most = form == ETHOSU_OFFSET ? 0xff : form == ETHOSU_LENGTH ? 0 : 0xffff;

	if (command->param <= most)
		return 0;
	return tenon_cursor_error(&command->place, -TENON_E_FORMAT,
				  "%s has the parameter 0x%x; at most 0x%x fits into its value",
				  commands[command->id].name, command->param, most);
}

int ethosu_command_next(struct tenon_cursor *c, enum ethosu_product product,
			struct ethosu_command *out)
{
	struct tenon_cursor at = *c;
	uint32_t first;
	int err;

	memset(out, 0, sizeof(*out));
	out->place = *c;
	err = tenon_cursor_u32(&at, &first);
	if (err)
		return err;
	out->param = (uint16_t)(first >> 16);
	if (find(first & 0xffff, product, &out->id))
		return tenon_cursor_error(
			&out->place, -TENON_E_FORMAT,
			"0x%04x is no command of Ethos-%s: the stream is damaged, or "
			"for another product",
			first & 0xffff, ethosu_product_name(product));
	if (first & TWO_WORDS)
		err = tenon_cursor_u32(&at, &out->word);
	if (err)
		return tenon_cursor_error(
			&out->place, err,
			"the stream ends in the middle of %s, which has two words",
			commands[out->id].name);
	err = check_size(out);
	if (!err)
		*c = at;
	return err;
}

const char *ethosu_command_name(enum ethosu_register id)
{
	return commands[id].name;
}

enum ethosu_form ethosu_command_form(enum ethosu_register id)
{
	return commands[id].form;
}

bool ethosu_command_is_operation(enum ethosu_register id)
{
	return id <= ETHOSU_OP_PMU_MASK || id == ETHOSU_OP_BRANCH;
}
