/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for libcuda.so.1, which lets the CUDA backend be tested without a GPU (TENON_CUDA_LIBRARY).
 *
 * It has two devices in host memory and interprets PTX, so kernels compute. Streams run in order, each in a thread of
 * its own or, with TENON_FAKE_CUDA=inline, in the thread that calls. TENON_FAKE_CUDA_SM=75 chooses another capability.
 * It answers as the driver's documentation says, fails when it is told to, and complains where the real one would have
 * undefined behaviour: handles that were destroyed or belong to another context, calls from host functions, memory
 * that belongs to nobody.
 *
 * It proves what the backend asks of CUDA, and how it ends when CUDA fails. It proves nothing about CUDA; a GPU does
 * that.
 */
#ifndef TESTS_CUDA_FAKE_CUDA_H
#define TESTS_CUDA_FAKE_CUDA_H

#include <stdint.h>

/**
 * struct fake_cuda - what the library is to do, and what it saw; exported as `fake_cuda`
 * @failing: function, with its suffix, that fails
 * @fail_at: at which call from now: 1 is the next; 0: none
 * @any_at: at which call from now any function fails that does not give something back: 1 is the next; 0: none
 * @result: what it answers; from 700 on the context is spoiled and everything answers it
 * @hangs: streams do not move
 * @nothing: launches return at once and do nothing, to measure what is above them
 * @pointers: arguments of kernels in cubins, which the fake does not look into: all are pointers
 * @graph_change_fails: nodes of a graph that is instantiated cannot be changed
 * @live: objects that were made and not given back
 * @complaints: what a program must not do and did
 * @complaint: the first of them
 * @waits: calls that waited for a stream and are not documented to do nothing else
 * @blocked: calls that would never have returned from a device that hangs
 * @kernel: name of the last kernel that was launched
 * @arguments: its parameters, as they lie in parameter memory
 */
struct fake_cuda {
	const char *failing;
	int fail_at;
	int any_at;
	int result;
	int hangs;
	int nothing;
	int pointers;
	int graph_change_fails;
	long live;
	long complaints;
	char complaint[256];
	long waits;
	long blocked;
	long launches;
	long graph_launches;
	long graph_changes;
	long instantiations;
	long loads;
	int fault; /* of a kernel: what each new context is refused with */
	long resets;
	long context_switches;
	long events;
	long host_functions;
	char kernel[64];
	unsigned char arguments[512];
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t shared;
	uint32_t cluster[3];
	uint32_t preferred[3];
	int cooperative;
	int programmatic;
};

/* Stop or continue what streams run; their threads look at this all the time. */
static inline void fake_cuda_hang(struct fake_cuda *fake, int hangs)
{
	__atomic_store_n(&fake->hangs, hangs, __ATOMIC_RELEASE);
}

#endif /* TESTS_CUDA_FAKE_CUDA_H */
