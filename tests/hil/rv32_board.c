/* SPDX-License-Identifier: MIT */
/* The suite of boards: mortise on a RISC-V core of 32 bits, a board that QEMU emulates. */
#include "tests/hil/hil.h"

const char *const hil_board = "rv32";
const bool hil_always = false;
