/* SPDX-License-Identifier: MIT */
/* Read the affinity of the process and TVM's variables for threads. */
#include "runtime/core/processors.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

int processors_allowed(void)
{
	cpu_set_t set;
	long n;

	if (!sched_getaffinity(0, sizeof(set), &set))
		n = CPU_COUNT(&set);
	else
		n = sysconf(_SC_NPROCESSORS_ONLN); /* more processors than a cpu_set_t can hold */
	return n < 1 ? 1 : n > THREADS_MOST ? THREADS_MOST : (int)n;
}

static int number_in(const char *name)
{
	const char *text = secure_getenv(name);
	char *end;
	unsigned long long n;

	if (!text || *text < '1' || *text > '9')
		return 0;
	n = strtoull(text, &end, 10);
	if (*end)
		return 0;
	return n > THREADS_MOST ? THREADS_MOST : (int)n;
}

int processors_asked(void)
{
	int n = number_in("TENON_NUM_THREADS");

	return n ? n : number_in("TVM_NUM_THREADS");
}

void processors_pin(int n)
{
	cpu_set_t set, one;
	int cpu;

	if (sched_getaffinity(0, sizeof(set), &set) || !CPU_COUNT(&set))
		return;
	n %= CPU_COUNT(&set);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set) && !n--)
			break;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}
