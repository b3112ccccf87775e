/* SPDX-License-Identifier: MIT */
/* The suite of boards: mortise on the simulator, a thread of the process. */
#include "tests/hil/hil.h"

const char *const hil_board = "sim";
const bool hil_always = true;
