/* SPDX-License-Identifier: MIT */
/*
 * Two processes share a buffer and a fence, and no byte is copied: the first fills memory of a device, the second
 * waits for the fence on its own queue and reads it: share_buffer cpu:0
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <tenon/tenon.h>
#include <unistd.h>

#define BYTES 65536

/* The first process: memory, a fence behind what fills it, and descriptors of both. */
static int produce(struct tenon_device *device, struct tenon_queue *queue, int fds[2])
{
	struct tenon_memory_request request = { sizeof(request), BYTES,
						TENON_MEMORY_DEFAULT | TENON_MEMORY_EXPORT, -1,
						NULL };
	struct tenon_point filled = { NULL, 1 };
	struct tenon_sync sync = { .signal = &filled, .signal_count = 1 };
	struct tenon_memory *memory = NULL;
	int err = tenon_memory_alloc(device, &request, &memory);

	if (err || (err = tenon_timeline_create(0, &filled.timeline)) ||
	    (err = tenon_queue_fill(queue, memory, 0, BYTES, 0x2a2a2a2a, 4, &sync)) ||
	    (err = tenon_memory_export(memory, TENON_HANDLE_OPAQUE_FD, &fds[0])))
		return err;
	return tenon_fence_export(&filled, TENON_FENCE_EVENTFD, &fds[1]);
}

/* The second process: the same memory, read behind the fence. */
static int consume(struct tenon_device *device, struct tenon_queue *queue, const int fds[2])
{
	struct tenon_memory_import from = { sizeof(from), TENON_HANDLE_OPAQUE_FD, fds[0], NULL,
					    BYTES,	  TENON_MEMORY_DEFAULT,	  0 };
	struct tenon_point filled = { NULL, 1 };
	struct tenon_sync sync = { .wait = &filled, .wait_count = 1 };
	struct tenon_memory *memory = NULL;
	uint32_t word = 0;
	int err = tenon_memory_import(device, &from, &memory);

	if (err || (err = tenon_fence_import(TENON_FENCE_EVENTFD, fds[1], &filled.timeline)) ||
	    (err = tenon_queue_read(queue, &word, memory, BYTES - 4, 4, &sync)) ||
	    (err = tenon_queue_sync(queue, TENON_FOREVER)))
		return err;
	printf("the other process wrote %x\n", word);
	return 0;
}

/* Start this program again with the two descriptors, and wait until it has ended. */
static int start_consumer(char *program, char *uri, const int fds[2])
{
	char memory[12], fence[12];
	pid_t child = fork();
	int status;

	snprintf(memory, sizeof(memory), "%d", child ? 0 : dup(fds[0]));
	snprintf(fence, sizeof(fence), "%d", child ? 0 : dup(fds[1]));
	if (!child && execl(program, program, uri, memory, fence, (char *)NULL))
		_exit(127);
	return child > 0 && waitpid(child, &status, 0) == child && !status ? 0 : -TENON_E_IO;
}

int main(int argc, char **argv)
{
	char *uri = argc > 1 ? argv[1] : "cpu:0";
	int fds[2] = { argc > 3 ? atoi(argv[2]) : -1, argc > 3 ? atoi(argv[3]) : -1 };
	struct tenon_device *device = NULL;
	struct tenon_queue *queue = NULL;
	int err = tenon_device_open(uri, &device);

	if (err || (err = tenon_queue_create(device, &queue)) ||
	    (err = argc > 3 ? consume(device, queue, fds) : produce(device, queue, fds)))
		fprintf(stderr, "%s\n", tenon_error_message());
	return err || (argc <= 3 && start_consumer(argv[0], uri, fds)) ? 1 : 0;
}
