/* SPDX-License-Identifier: MIT */
/* The emptiest library: what opening any shared object costs. */
int nothing(void);

int nothing(void)
{
	return 0;
}
