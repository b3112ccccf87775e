/* SPDX-License-Identifier: MIT */
/* The same, linked with --hash-style=sysv: its names are in a table of the older kind. */
#include "plain_lazy.c"
