/* SPDX-License-Identifier: MIT */
/*
 * FastRPC on a named fake of the kernel, made from its header alone: one DSP with buffers, maps, an unsigned process and
 * a library with two methods. No DSP is behind it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/dmabuf/dmabuf_uapi.h"
#include "driver/fastrpc/fastrpc.h"
#include "driver/fastrpc/fastrpc_uapi.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/unit/suite.h"

#ifdef __has_include
#if __has_include(<misc/fastrpc.h>)
#include <misc/fastrpc.h>
#endif
#endif

#ifndef FASTRPC_IOCTL_GET_DSP_INFO
int main(void)
{
	printf("misc/fastrpc.h of Linux 5.18 or later is missing (Debian: linux-libc-dev)\n");
	return 77;
}
#else

#define NODE			  "/dev/fastrpc-cdsp"
#define SHELL			  "/usr/lib/dsp/cdsp/fastrpc_shell_unsigned_3"
#define HANDLE			  7
#define BASE			  UINT64_C(0x80000000)
#define CDSP			  3

/* what the room declares is what the kernel's header says */
#define SAME_SIZE(mine, theirs)	  _Static_assert(sizeof(mine) == sizeof(theirs), #theirs)
#define SAME_NUMBER(mine, theirs) _Static_assert((mine) == (theirs), #theirs)
#define SAME_PLACE(mine, field, theirs, name)                                                      \
	_Static_assert(offsetof(mine, field) == offsetof(theirs, name), #theirs "." #name)
SAME_SIZE(struct fastrpc_uapi_argument, struct fastrpc_invoke_args);
SAME_PLACE(struct fastrpc_uapi_argument, fd, struct fastrpc_invoke_args, fd);
SAME_NUMBER(FASTRPC_UAPI_INVOKE, FASTRPC_IOCTL_INVOKE);
SAME_PLACE(struct fastrpc_uapi_invoke, scalars, struct fastrpc_invoke, sc);
SAME_PLACE(struct fastrpc_uapi_invoke, arguments, struct fastrpc_invoke, args);
SAME_NUMBER(FASTRPC_UAPI_CREATE, FASTRPC_IOCTL_INIT_CREATE);
SAME_PLACE(struct fastrpc_uapi_create, fd, struct fastrpc_init_create, filefd);
SAME_PLACE(struct fastrpc_uapi_create, attributes, struct fastrpc_init_create, attrs);
SAME_PLACE(struct fastrpc_uapi_create, program, struct fastrpc_init_create, file);
SAME_NUMBER(FASTRPC_UAPI_UNSIGNED, FASTRPC_MODE_UNSIGNED_MODULE);
SAME_NUMBER(FASTRPC_UAPI_ALLOCATE, FASTRPC_IOCTL_ALLOC_DMA_BUFF);
SAME_PLACE(struct fastrpc_uapi_buffer, size, struct fastrpc_alloc_dma_buf, size);
SAME_NUMBER(FASTRPC_UAPI_MAP, FASTRPC_IOCTL_MEM_MAP);
SAME_NUMBER(FASTRPC_UAPI_MAP_FD, FASTRPC_MAP_FD);
SAME_PLACE(struct fastrpc_uapi_map, flags, struct fastrpc_mem_map, flags);
SAME_PLACE(struct fastrpc_uapi_map, address, struct fastrpc_mem_map, vaddrin);
SAME_PLACE(struct fastrpc_uapi_map, dsp_address, struct fastrpc_mem_map, vaddrout);

static struct {
	bool process;
	unsigned int calls;  /* of methods */
	int32_t result;	     /* of methods */
	int invoke_error;    /* errno of the next call */
	int create_error;    /* errno of the process */
	uint64_t map_wrong;  /* an address that cannot be */
	uint32_t shell_size; /* of the program that the process was made of */
	int argument_fd;     /* of the last argument */
} dsp;

static int refuse(int error)
{
	errno = error;
	return -1;
}

static void start(void)
{
	memset(&dsp, 0, sizeof(dsp));
}

static int allocate(struct fastrpc_alloc_dma_buf *b)
{
	assert_true(b->size && b->size % 4096 == 0);
	b->fd = memfd_create("dma-buf", MFD_CLOEXEC);
	assert_true(b->fd >= 0 && !ftruncate(b->fd, (off_t)b->size));
	fake_opened(b->fd, "dma-buf");
	return 0;
}

static int create(const struct fastrpc_init_create *c)
{
	struct stat st;
	char begin[4];

	if (dsp.create_error)
		return refuse(dsp.create_error);
	if (dsp.process)
		return refuse(EEXIST);
	/* the kernel maps the program by its descriptor */
	if (c->attrs != FASTRPC_MODE_UNSIGNED_MODULE || c->siglen || !c->file || c->filefd <= 0 ||
	    fstat(c->filefd, &st) || st.st_size < (off_t)c->filelen)
		return refuse(EINVAL);
	assert_int_equal(pread(c->filefd, begin, sizeof(begin), 0), sizeof(begin));
	if (memcmp(begin, "\177ELF", sizeof(begin)))
		return refuse(EINVAL);
	dsp.process = true;
	dsp.shell_size = c->filelen;
	return 0;
}

/* Method 2 writes the sum of the bytes of its inputs to each byte of its outputs. */
static int invoke(const struct fastrpc_invoke *call)
{
	const struct fastrpc_invoke_args *a = (const void *)(uintptr_t)call->args;
	uint32_t inputs = call->sc >> 16 & 0xff, outputs = call->sc >> 8 & 0xff, i;
	uint8_t sum = 0;
	uint64_t k;

	dsp.calls++;
	if (dsp.invoke_error)
		return refuse(dsp.invoke_error);
	if (!dsp.process || call->handle != HANDLE || call->sc >> 24 != 2 || call->sc & 0xff)
		return refuse(EINVAL);
	for (i = 0; i < inputs; i++)
		for (k = 0; k < a[i].length; k++)
			sum += ((const uint8_t *)(uintptr_t)a[i].ptr)[k];
	for (; i < inputs + outputs; i++)
		memset((void *)(uintptr_t)a[i].ptr, sum, (size_t)a[i].length);
	dsp.argument_fd = i ? a[i - 1].fd : -1;
	return dsp.result;
}

static int map(struct fastrpc_mem_map *m)
{
	if (!dsp.process)
		return refuse(EINVAL);
	assert_int_equal(m->flags, FASTRPC_MAP_FD);
	m->vaddrout = dsp.map_wrong ? dsp.map_wrong : BASE;
	return 0;
}

static int fake_ioctl(int fd, unsigned long request, void *argument)
{
	if (request == DMABUF_UAPI_SYNC)
		return 0;
	assert_non_null(strstr(path_of(fd), "fastrpc"));
	switch (request) {
	case FASTRPC_IOCTL_ALLOC_DMA_BUFF:
		return allocate(argument);
	case FASTRPC_IOCTL_INIT_CREATE:
		return create(argument);
	case FASTRPC_IOCTL_INVOKE:
		return invoke(argument);
	case FASTRPC_IOCTL_MEM_MAP:
		return map(argument);
	}
	return refuse(ENOTTY);
}

static struct system_calls fake;

static void make_shell(void)
{
	char text[64];

	memset(text, '.', sizeof(text));
	memcpy(text, "\177ELF\1\1\1", 7);
	text[63] = 0;
	tree_text(SHELL, text);
}

static int setup(void **state)
{
	int err = tree_setup(state);

	fake = system_calls_of_kernel;
	fake.ioctl = fake_ioctl;
	faults_over(&fake);
	start();
	unsetenv("ADSP_LIBRARY_PATH");
	tree_zeroes(NODE, 0);
	make_shell();
	return err;
}

static void open_it(struct fastrpc *f)
{
	assert_int_equal(fastrpc_open(&faulty_calls, tree, "cdsp", f), 0);
}

static void close_it(struct fastrpc *f)
{
	fastrpc_close(f);
	fastrpc_close(f);
	assert_nothing_open();
	start();
}

static void with_process(struct fastrpc *f)
{
	char shell[512];

	open_it(f);
	assert_int_equal(fastrpc_find_shell(f, tree, shell, sizeof(shell)), 0);
	assert_int_equal(fastrpc_create(f, shell), 0);
}

static void a_session_begins_at_the_node_of_its_dsp(void **state)
{
	struct fastrpc f;

	(void)state;
	open_it(&f);
	assert_string_equal(f.path, NODE);
	assert_int_equal(f.domain, CDSP);
	close_it(&f);
	tree_zeroes("/dev/fastrpc-adsp-secure", 0);
	assert_int_equal(fastrpc_open(&faulty_calls, tree, "adsp", &f), 0);
	assert_string_equal(f.path, "/dev/fastrpc-adsp-secure");
	assert_int_equal(f.domain, 0);
	close_it(&f);
	assert_int_equal(fastrpc_open(&faulty_calls, tree, "sdsp", &f), -TENON_E_NOT_FOUND);
	assert_error_has("CONFIG_QCOM_FASTRPC");
	assert_int_equal(fastrpc_open(&faulty_calls, tree, "npu", &f), -TENON_E_VALUE);
	assert_error_has("there is no DSP \"npu\"");
	close_it(&f);
}

static void the_vendors_shell_is_searched_and_its_absence_told(void **state)
{
	struct fastrpc f;
	char shell[512];

	(void)state;
	open_it(&f);
	assert_int_equal(fastrpc_find_shell(&f, tree, shell, sizeof(shell)), 0);
	assert_non_null(strstr(shell, SHELL));
	tree_text("/opt/dsp/fastrpc_shell_unsigned_3", "another");
	setenv("ADSP_LIBRARY_PATH", "/nowhere;/opt/dsp", 1);
	assert_int_equal(fastrpc_find_shell(&f, tree, shell, sizeof(shell)), 0);
	assert_non_null(strstr(shell, "/opt/dsp/fastrpc_shell_unsigned_3"));
	tree_drop(SHELL);
	tree_drop("/opt/dsp/fastrpc_shell_unsigned_3");
	assert_int_equal(fastrpc_find_shell(&f, tree, shell, sizeof(shell)), -TENON_E_NOT_FOUND);
	assert_string_equal(shell, "");
	assert_non_null(strstr(tenon_error_message(), "hexagon-dsp-binaries"));
	assert_error_has("fastrpc_shell_unsigned_3 is in none of /nowhere (No such file");
	unsetenv("ADSP_LIBRARY_PATH");
	close_it(&f);
}

static void an_unsigned_process_is_made_of_the_shell(void **state)
{
	struct fastrpc f;
	char shell[512];

	(void)state;
	with_process(&f);
	assert_true(dsp.process);
	assert_int_equal(dsp.shell_size, 63);
	snprintf(shell, sizeof(shell), "%s" SHELL, tree);
	assert_int_equal(fastrpc_create(&f, shell), -TENON_E_EXISTS);
	dsp.process = false;
	dsp.create_error = EPERM;
	assert_int_equal(fastrpc_create(&f, shell), -TENON_E_IO);
	assert_error_has("create an unsigned process");
	tree_text(SHELL, "a text that is no program of any machine, but long enough to be");
	assert_int_equal(fastrpc_create(&f, shell), -TENON_E_FORMAT);
	assert_error_has("is no program of 32 bits (ELF)");
	tree_zeroes(SHELL, (2 << 20) + 1);
	assert_int_equal(fastrpc_create(&f, shell), -TENON_E_OVERFLOW);
	tree_drop(SHELL);
	assert_int_equal(fastrpc_create(&f, shell), -TENON_E_NOT_FOUND);
	close_it(&f);
}

static void buffers_are_allocated_and_mapped_on_the_dsp(void **state)
{
	struct dmabuf b, none;
	struct fastrpc f;
	uint64_t address;

	(void)state;
	with_process(&f);
	assert_int_equal(fastrpc_allocate(&f, 5000, &b), 0);
	assert_int_equal(b.size, 8192);
	assert_int_equal(dmabuf_map(&b), 0);
	assert_int_equal(fastrpc_map(&f, &b, &address), 0);
	assert_true(address == BASE);
	dsp.map_wrong = UINT64_MAX - 100;
	assert_int_equal(fastrpc_map(&f, &b, &address), -TENON_E_DEVICE);
	assert_true(address == 0);
	assert_int_equal(fastrpc_allocate(&f, 0, &none), -TENON_E_OVERFLOW);
	assert_int_equal(fastrpc_allocate(&f, UINT64_MAX, &none), -TENON_E_OVERFLOW);
	tenon_error_clear();
	dmabuf_close(&b);
	close_it(&f);
}

static void a_method_reads_and_writes_its_arguments(void **state)
{
	uint8_t numbers[] = { 1, 2, 3 }, more[] = { 10 }, sums[4] = { 0 };
	struct fastrpc_argument arguments[] = { { numbers, sizeof(numbers), -1 },
						{ more, sizeof(more), -1 },
						{ NULL, sizeof(sums), -1 } };
	struct fastrpc_call call = { HANDLE, 2, arguments, 2, 1 };
	struct fastrpc f;
	struct dmabuf b;
	int32_t result;

	(void)state;
	with_process(&f);
	arguments[2].data = sums;
	assert_int_equal(fastrpc_invoke(&f, &call, &result), 0);
	assert_int_equal(result, 0);
	assert_int_equal(sums[0] + sums[3], 32);
	/* an argument in a buffer goes with its descriptor */
	assert_int_equal(fastrpc_allocate(&f, 4096, &b), 0);
	assert_int_equal(dmabuf_map(&b), 0);
	arguments[2] = (struct fastrpc_argument){ b.base, b.size, b.fd };
	dsp.result = 0x4e;
	assert_int_equal(fastrpc_invoke(&f, &call, &result), 0);
	assert_int_equal(result, 0x4e);
	assert_int_equal(((uint8_t *)b.base)[4095], 16);
	assert_int_equal(dsp.argument_fd, b.fd);
	dmabuf_close(&b);
	close_it(&f);
}

static void a_call_that_cannot_be_passed_is_refused(void **state)
{
	struct fastrpc_call call = { HANDLE, 2, NULL, 256, 0 };
	struct fastrpc f;
	int32_t result;

	(void)state;
	with_process(&f);
	assert_int_equal(fastrpc_invoke(&f, &call, &result), -TENON_E_VALUE);
	assert_error_has("256 inputs");
	call = (struct fastrpc_call){ HANDLE, 32, NULL, 0, 0 };
	assert_int_equal(fastrpc_invoke(&f, &call, &result), -TENON_E_VALUE);
	call = (struct fastrpc_call){ HANDLE, 2, NULL, 0, 256 };
	assert_int_equal(fastrpc_invoke(&f, &call, &result), -TENON_E_VALUE);
	tenon_error_clear();
	assert_int_equal(dsp.calls, 0);
	close_it(&f);
}

static void an_interrupted_method_is_not_called_twice(void **state)
{
	struct fastrpc_call call = { HANDLE, 2, NULL, 0, 0 };
	struct fastrpc f;
	int32_t result;

	(void)state;
	with_process(&f);
	dsp.invoke_error = EINTR;
	assert_int_equal(fastrpc_invoke(&f, &call, &result), -TENON_E_IO);
	assert_int_equal(dsp.calls, 1);
	dsp.invoke_error = EPIPE;
	assert_int_equal(fastrpc_invoke(&f, &call, &result), -TENON_E_LOST);
	assert_error_has("the DSP restarted");
	close_it(&f);
}

static int use_buffer(struct fastrpc *f, struct dmabuf *b)
{
	struct fastrpc_argument argument = { b->base, b->size, b->fd };
	struct fastrpc_call call = { HANDLE, 2, &argument, 0, 1 };
	uint64_t address;
	int32_t result;
	int err = fastrpc_map(f, b, &address);

	if (err)
		return err;
	err = dmabuf_begin(b, DMABUF_BOTH);
	if (!err)
		err = dmabuf_end(b, DMABUF_BOTH);
	return err ? err : fastrpc_invoke(f, &call, &result);
}

static int use_session(struct fastrpc *f)
{
	struct dmabuf b;
	char shell[512];
	int err;

	faults_step = 1;
	err = fastrpc_find_shell(f, tree, shell, sizeof(shell));
	faults_step = 2;
	if (!err)
		err = fastrpc_create(f, shell);
	if (!err)
		err = fastrpc_allocate(f, 4096, &b);
	if (err)
		return err;
	err = dmabuf_map(&b);
	if (!err)
		err = use_buffer(f, &b);
	dmabuf_close(&b);
	return err;
}

static int use(const struct system_calls *calls)
{
	struct fastrpc f;
	int err = fastrpc_open(calls, tree, "cdsp", &f);

	if (!err)
		err = use_session(&f);
	fastrpc_close(&f);
	return err;
}

static int expected(const struct fault *f)
{
	/* a shell that cannot be opened is searched elsewhere */
	if (f->call == CALL_OPEN && f->step == 1 && f->error != EINTR)
		return -TENON_E_NOT_FOUND;
	if (f->call == CALL_PREAD && f->error == SHORT)
		return 0;
	if (f->error == EPIPE || f->error == ECONNRESET)
		return f->request == FASTRPC_UAPI_INVOKE ? -TENON_E_LOST : -TENON_E_IO;
	if (f->request == FASTRPC_UAPI_INVOKE && f->error == EINTR)
		return -TENON_E_IO;
	if (f->call == CALL_IOCTL && f->request == DMABUF_UAPI_SYNC && f->error == EAGAIN)
		return 0;
	return 2;
}

static unsigned int restart(const struct fault *f)
{
	start();
	return 0;
}

static void every_call_that_fails_is_reported_and_leaves_nothing(void **state)
{
	static const int errors[] = { EINTR,  EAGAIN, EINVAL,	 EFAULT,     ENOMEM,	 EBUSY,
				      ENODEV, EACCES, EPERM,	 EPIPE,	     ECONNRESET, EIO,
				      ENOTTY, ENOSPC, ETIMEDOUT, EOPNOTSUPP, 0 };
	static const struct sweep sweep = {
		.under = &fake,
		.scenario = use,
		.ioctl_errors = errors,
		.expected = expected,
		.reset = restart,
	};

	(void)state;
	assert_true(sweep_faults(&sweep) > 150);
}

int main(void)
{
#define on(test) cmocka_unit_test_setup_teardown(test, setup, tree_teardown)
	const struct CMUnitTest tests[] = {
		on(a_session_begins_at_the_node_of_its_dsp),
		on(the_vendors_shell_is_searched_and_its_absence_told),
		on(an_unsigned_process_is_made_of_the_shell),
		on(buffers_are_allocated_and_mapped_on_the_dsp),
		on(a_method_reads_and_writes_its_arguments),
		on(a_call_that_cannot_be_passed_is_refused),
		on(an_interrupted_method_is_not_called_twice),
		on(every_call_that_fails_is_reported_and_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif /* FASTRPC_IOCTL_GET_DSP_INFO */
