/* SPDX-License-Identifier: MIT */
#include "tests/hil/hil.h"

const char *const hil_board = "sim";
const bool hil_always = true;
