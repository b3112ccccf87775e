/* SPDX-License-Identifier: MIT */
#include "tests/hil/hil.h"

const char *const hil_board = "hexagon";
const bool hil_always = false;
