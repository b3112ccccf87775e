/* SPDX-License-Identifier: MIT */
/* Objects that a session links, by compilers that are scripts: what they make, what they say, and how they end. */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <tenon/backend/buffer.h>

#ifdef CONFIG_LINK
#include "driver/archive/archive.h"
#endif
#include "tests/remote/client.h"

#define LIBRARY "tests/interop/data/tvm-0.27.0.post1/host_vecadd/lib.so"

static uint64_t upload, load;

/* a session in whose folder a compiler is this script */
static void start(struct client *c, uint64_t most, const char *script)
{
	char path[5000];
	FILE *f;

	client_open(c, WIRE_FFI);
	c->options.folder_most = most;
	client_init(c);
	upload = client_function(c, "tvm.rpc.server.upload");
	load = client_function(c, "tvm.rpc.server.load_module");
	snprintf(path, sizeof(path), "%s/compiler", c->folder);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "#!/bin/sh\n%s\n", script);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0700), 0);
	assert_int_equal(setenv("CC", path, 1), 0);
}

static void put(struct client *c, const char *name, const void *bytes, size_t size)
{
	CALL(c, upload, wire_string(name), wire_bytes(bytes, size));
	assert_int_equal(c->code, PACKET_RETURN);
}

static void end(struct client *c)
{
	unsetenv("CC");
	client_close(c);
	assert_int_equal(c->result, 0);
}

static void what_a_compiler_makes_is_loaded(void **state)
{
	struct client c;

	(void)state;
	/* -shared -o OUTPUT OBJECT */
	start(&c, 1 << 20,
	      "[ \"$1 $2\" = '-shared -o' ] && grep -q object \"$4\" && cp " LIBRARY " \"$3\"");
	put(&c, "x.o", "object", 6);
	for (int i = 0; i < 2; i++) {
		CALL(&c, load, wire_string("x.o"));
#ifndef __x86_64__
		if (c.code != PACKET_RETURN) {
			/* the library is for another machine */
			end(&c);
			skip();
		}
#endif
		assert_int_equal(c.code, PACKET_RETURN);
		assert_int_equal(c.values.values[0].as.integer, TENON_TYPE_MODULE);
	}
	CALL(&c, client_function(&c, "tvm.rpc.server.download_linked_module"), wire_string("x.o"));
	assert_true(client_text(&c).size > 4);
	assert_memory_equal(client_text(&c).data, "\177ELF", 4);
	CALL(&c, client_function(&c, "tvm.rpc.server.download_linked_module"),
	     wire_string("x.other"));
	assert_exception(&c, "a .so file is downloaded, or linked");
	CALL(&c, client_function(&c, "tvm.rpc.server.download_linked_module"),
	     wire_string("absent.so"));
	assert_exception(&c, "cannot find file absent.so");
	/* without a compiler's name, it is cc, which may not be there */
	setenv("CC", "   ", 1);
	CALL(&c, load, wire_string("x.o"));
	assert_exception(&c, "");
	unsetenv("CC");
	CALL(&c, load, wire_string("x.o"));
	assert_exception(&c, "");
	end(&c);
}

static void a_compiler_that_fails_is_told_with_its_last_words(void **state)
{
	static const struct {
		const char *script, *words;
	} compilers[] = {
		{ "exit 7", "(status 7): " },
		{ "echo the reason >&2; exit 1", "(status 1): the reason" },
		{ "kill -9 $$", "(status 137): " },
		{ "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i + 1)); done; exit 3",
		  "line 1999" },
		/* it says that all is well, and made nothing */
		{ "exit 0", "x.o.so" },
	};
	struct client c;

	(void)state;
	for (size_t i = 0; i < sizeof(compilers) / sizeof(compilers[0]); i++) {
		start(&c, 1 << 20, compilers[i].script);
		put(&c, "x.o", "object", 6);
		CALL(&c, load, wire_string("x.o"));
		assert_exception(&c, compilers[i].words);
		end(&c);
	}
}

static void what_is_in_the_way_of_a_link_is_an_error(void **state)
{
	struct client c;
	char path[5000];

	(void)state;
	start(&c, 1 << 20, "exit 0");
	put(&c, "x.o", "object", 6);
	snprintf(path, sizeof(path), "%s/x.o.so", c.folder);
	assert_int_equal(mkdir(path, 0700), 0);
	CALL(&c, load, wire_string("x.o"));
	assert_exception(&c, "x.o.so");
	end(&c);
}

#ifdef CONFIG_LINK
static void put_archive(struct client *c, const char *const *names, size_t count)
{
	struct archive_files files = { NULL, 0 };
	struct tenon_buffer archive = TENON_BUFFER_INIT;
	struct archive_file *f;
	int err;

	for (size_t i = 0; i < count; i++) {
		assert_int_equal(archive_files_add(&files, names[i], &f), 0);
		tenon_buffer_slice(&f->bytes, tenon_slice_of("an object of some bytes"));
	}
	err = archive_write(&files, &archive);
	archive_files_fini(&files);
	/* libarchive is not installed */
	if (err == -TENON_E_DEVICE) {
		print_message("# %s\n", tenon_error_message());
		tenon_buffer_fini(&archive);
		end(c);
		skip();
	}
	assert_int_equal(err, 0);
	put(c, "x.tar", archive.data, archive.size);
	tenon_buffer_fini(&archive);
}

static void objects_of_an_archive_are_kept_apart(void **state)
{
	static const char *const names[] = { "a.o", "folder/a.o", "folder/deeper/b.o" };
	char path[5000];
	struct client c;

	(void)state;
	start(&c, 1 << 20,
	      "[ $# = 6 ] && grep -q object \"$4\" && grep -q object \"$5\" && grep -q object "
	      "\"$6\" || exit 9\n"
	      "echo \"all are there\"; exit 8");
	put_archive(&c, names, 3);
	CALL(&c, load, wire_string("x.tar"));
	assert_exception(&c, "(status 8): all are there");
	/* nothing is left of them */
	CALL(&c, client_function(&c, "tvm.rpc.server.listdir"), wire_string("x.tar.objects"));
	assert_exception(&c, "cannot find");
	snprintf(path, sizeof(path), "%s/x.tar.objects", c.folder);
	assert_int_equal(mkdir(path, 0700), 0);
	CALL(&c, load, wire_string("x.tar"));
	assert_exception(&c, "a folder for its objects");
	end(&c);
}

static void objects_of_an_archive_count_for_the_folder(void **state)
{
	static const char *const names[] = { "a.o", "b.o" };
	static char rest[1 << 20];
	struct client c;
	size_t size;

	(void)state;
	start(&c, sizeof(rest), "exit 0");
	put_archive(&c, names, 2);
	CALL(&c, client_function(&c, "tvm.rpc.server.download"), wire_string("x.tar"));
	size = client_text(&c).size;
	/* 10 bytes are left */
	put(&c, "rest", rest, sizeof(rest) - size - 10);
	CALL(&c, load, wire_string("x.tar"));
	assert_exception(&c, "folder-size");
	end(&c);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_compiler_makes_is_loaded),
		cmocka_unit_test(a_compiler_that_fails_is_told_with_its_last_words),
		cmocka_unit_test(what_is_in_the_way_of_a_link_is_an_error),
#ifdef CONFIG_LINK
		cmocka_unit_test(objects_of_an_archive_are_kept_apart),
		cmocka_unit_test(objects_of_an_archive_count_for_the_folder),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
