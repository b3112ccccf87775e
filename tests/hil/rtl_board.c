/* SPDX-License-Identifier: MIT */
/* The suite of boards: mortise in SystemVerilog, a program that Verilator makes. */
#include "tests/hil/hil.h"

const char *const hil_board = "rtl";
const bool hil_always = false;
