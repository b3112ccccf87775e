/* SPDX-License-Identifier: MIT */
/* The suite of boards: mortise on a Hexagon core, as a program that qemu-hexagon runs. */
#include "tests/hil/hil.h"

const char *const hil_board = "hexagon";
const bool hil_always = false;
