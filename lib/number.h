/* SPDX-License-Identifier: MIT */
/* Numbers with a decimal point, whatever the locale. */
#ifndef LIB_NUMBER_H
#define LIB_NUMBER_H

/*
 * They have a point, whatever the locale of the program: strtod() and printf() follow LC_NUMERIC,
 * which programs with a user interface set. These do not. No locale object is made for it, because
 * that would add much to a static program.
 */

#include <stddef.h>

#include "lib/plugin_api.h"

/* room for a number of number_print(), NUL included */
#define NUMBER_ROOM 40

/**
 * number_read - as strtod(), with a point; numbers have at most 500 characters
 * @text: no blank is skipped before the number
 * @end: receives the first character behind it, @text if there is no number; may be NULL
 */
double number_read(const char *text, const char **end) TO_PLUGINS(number_read);

/** number_read_float - as number_read(), rounded once, to float */
float number_read_float(const char *text, const char **end) TO_PLUGINS(number_read_float);

/** number_print - as printf("%.*g"), with a point; returns @text */
const char *number_print(char text[NUMBER_ROOM], int digits, double number)
	TO_PLUGINS(number_print);

#endif /* LIB_NUMBER_H */
