/* SPDX-License-Identifier: MIT */
/* The row of self-tests in the table of plug-ins (runtime/table/plugin_row.h). */
PLUGIN(SELF_TEST, self_test, TESTER)
