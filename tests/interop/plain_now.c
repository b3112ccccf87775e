/* SPDX-License-Identifier: MIT */
/* The same, linked with -z now: the dynamic linker binds it at once or not at all. */
#include "plain_lazy.c"
