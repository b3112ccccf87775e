/* SPDX-License-Identifier: MIT */
/*
 * The same without the compiler's start-up files: its one constructor beside DT_INIT is its own, where other
 * libraries have the compiler's there.
 */
#include "registers_symbol.c"

void nothing(void);
void nothing(void)
{
}
