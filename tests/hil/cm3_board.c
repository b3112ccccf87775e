/* SPDX-License-Identifier: MIT */
/* The suite of boards: mortise on a Cortex-M3, a board that QEMU emulates. */
#include "tests/hil/hil.h"

const char *const hil_board = "cm3";
const bool hil_always = false;
