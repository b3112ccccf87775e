/* SPDX-License-Identifier: MIT */
/* LD_PRELOAD: the program takes the language of its environment, as programs with a user interface do. */
#include <locale.h>

static void __attribute__((constructor)) take_language(void)
{
	setlocale(LC_ALL, "");
}
