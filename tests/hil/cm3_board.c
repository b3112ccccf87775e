/* SPDX-License-Identifier: MIT */
#include "tests/hil/hil.h"

const char *const hil_board = "cm3";
const bool hil_always = false;
