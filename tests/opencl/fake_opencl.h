/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for libOpenCL.so.1 that fails when it is told to, which no real driver does on demand.
 *
 * It has one platform and one device that knows a kernel by its name. It proves how the backend ends when a driver
 * fails. It proves nothing about OpenCL itself; PoCL and GPUs do that.
 */
#ifndef TESTS_FAULTS_FAKE_OPENCL_H
#define TESTS_FAULTS_FAKE_OPENCL_H

#include <stdint.h>

/** struct fake_opencl - what the library is to do, and what it saw; exported as `fake_opencl` */
struct fake_opencl {
	/* set by the test */
	long fails_at;	     /* the n-th call of @calls that may fail does; 0: none */
	int failure;	     /* with this; CL_DEVICE_NOT_AVAILABLE: and all after it find it gone */
	const char *driver;  /* the driver's version; NULL: "7.5" */
	const char *version; /* NULL: "OpenCL 1.2 fake" */
	const char *il;	     /* what the device says it reads; NULL: nothing */
	const char *lacks;   /* a function of an extension that is not there; NULL: none */
	int command_buffer;  /* cl_khr_command_buffer: 9 for 0.9.0, 95 for 0.9.5; 0: not offered */
	int platforms_status; /* what asking for platforms answers */
	int no_platforms;     /* there are none */
	int no_devices;	      /* platforms have none */
	int dma_buf;	      /* such memory is imported */
	int processor;	      /* the device is one, and shares its memory with the host */
	int fences;	    /* cl_khr_external_semaphore with sync_files and opaque fds: eventfds */
	int alloc_fails_at; /* the n-th clCreateBuffer from now on fails; 0: none */
	int lost_at; /* the n-th operation from now on, and all after it, find the device gone */
	int mark_fails_at; /* the event of the n-th marker from now on ends with -5 */
	int hangs;	   /* events are never done */
	int slow;	   /* events are done when they were asked that often */
	int compile_fails; /* with a log */
	int binaries_fail; /* clCreateProgramWithBinary refuses */
	int queue_fails;   /* clCreateCommandQueue has no memory */
	int kernel_fails;  /* clCreateKernel knows no such name */
	int arguments;	   /* how many arguments kernels say they take; 0: three */
	/* counted, or noted, by the library */
	long calls;
	int inside; /* it allocates for itself */
	long ils;
	long commands; /* enqueued */
	long replays;
	long acquired;
	long fence_imports;
	long fence_exports;
	long complaints; /* about what a program must not do with semaphores */
	int imported_fd;
	char options[64]; /* of the last build */
	char text[64];	  /* of the last program made of source */
	long live;	  /* objects that were made and not given back */
	long set_arguments;
	long launches;
	long builds;
	long sources;
	long binaries;
	long flushes;
	long unordered; /* events that were asked whether they are done, and never waited for */
};

#endif /* TESTS_FAULTS_FAKE_OPENCL_H */
