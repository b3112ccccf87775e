/* SPDX-License-Identifier: MIT */
/* A shared object that is no plug-in. */
int nothing_of_interest(void);
int nothing_of_interest(void)
{
	return 0;
}
