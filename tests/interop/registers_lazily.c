/* SPDX-License-Identifier: MIT */
/* The same, with its calls bound lazily: the constructor calls before dlopen() returns. */
#include "registers_symbol.c"
