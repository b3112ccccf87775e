/* SPDX-License-Identifier: MIT */
/* The commands of a stream: registers that are set, and operations that use them. */
#ifndef DEVICES_ETHOSU_ETHOSU_COMMAND_H
#define DEVICES_ETHOSU_ETHOSU_COMMAND_H

/*
 * A command is one word, or two where bit 14 is set. The low half of the first word is its code, the
 * high half a parameter. Setters keep their value until they are set again; operations (OP_*) use the
 * values of all setters.
 */

#include <tenon/backend/cursor.h>

#include "devices/ethosu/ethosu_target.h"

/** enum ethosu_register - what a command sets or does, for all products */
enum ethosu_register {
#define ETHOSU_BOTH(name, code, form) ETHOSU_##name,
#define ETHOSU_OLD(name, code, form)  ETHOSU_##name,
#define ETHOSU_U85(name, code, form)  ETHOSU_##name,
#include "devices/ethosu/ethosu_commands.h"
#undef ETHOSU_BOTH
#undef ETHOSU_OLD
#undef ETHOSU_U85
	ETHOSU_REGISTERS
};

/** enum ethosu_form - how the operand of a command is read */
enum ethosu_form {
	ETHOSU_NUMBER, /* the parameter */
	ETHOSU_SIGNED, /* the parameter, with a sign */
	ETHOSU_OFFSET, /* 40 bits: the low byte of the parameter, and the second word */
	ETHOSU_LENGTH, /* the second word */
	ETHOSU_SCALE,  /* a multiplier in the second word, a shift in the parameter */
	ETHOSU_STEPS, /* of an element and of a block: whole ones in the parameter, parts in the second word */
};

/**
 * struct ethosu_command - a decoded command
 * @place: cursor at its first word, for errors
 * @id: what it sets or does
 * @param: high half of the first word
 * @word: second word; 0 if it has none
 */
struct ethosu_command {
	struct tenon_cursor place;
	enum ethosu_register id;
	uint16_t param;
	uint32_t word;
};

/**
 * ethosu_command_next - decode a command
 * @c: cursor at a command; moved past it on success
 * @product: product that the stream is for
 * @out: receives the command; on failure its @place is set
 *
 * Return: 0; -TENON_E_TRUNCATED for half a command; -TENON_E_FORMAT for a code that the product does
 *	not have, for set bits that no code has, and for addresses and lengths that are too long.
 */
int ethosu_command_next(struct tenon_cursor *c, enum ethosu_product product,
			struct ethosu_command *out);

/** ethosu_command_name - name of a command: "IFM_REGION" */
const char *ethosu_command_name(enum ethosu_register id);
/** ethosu_command_form - how the operand of a command is read */
enum ethosu_form ethosu_command_form(enum ethosu_register id);
/** ethosu_command_is_operation - test for a command that does something, rather than set a value */
bool ethosu_command_is_operation(enum ethosu_register id);

/** ethosu_offset - the 40 bits of a command of form OFFSET */
static inline uint64_t ethosu_offset(uint16_t param, uint32_t word)
{
	return (uint64_t)(param & 0xff) << 32 | word;
}

#endif /* DEVICES_ETHOSU_ETHOSU_COMMAND_H */
