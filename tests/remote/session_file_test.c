/* SPDX-License-Identifier: MIT */
/* The folder of a session: uploads of all sizes, and what is refused. */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

#include "tests/remote/client.h"

#ifdef CONFIG_LINK
#include "driver/archive/archive.h"
#endif

static void files_are_in_the_sessions_folder(void **state)
{
	static const char *const outside[] = { "/etc/passwd", "../x", "a/../../x", "..", "" };
	static char large[17 << 20];
	uint64_t upload, download, remove, list;
	struct client c;
	size_t i;

	(void)state;
	client_start(&c);
	upload = client_function(&c, "tvm.rpc.server.upload");
	download = client_function(&c, "tvm.rpc.server.download");
	remove = client_function(&c, "tvm.rpc.server.remove");
	list = client_function(&c, "tvm.rpc.server.listdir");
	CALL(&c, upload, wire_string("a.bin"), wire_bytes("abc", 3));
	assert_int_equal(c.code, PACKET_RETURN);
	CALL(&c, upload, wire_string("a.bin"), wire_bytes("other", 5));
	CALL(&c, download, wire_string("a.bin"));
	assert_slice(client_text(&c), "other");
	CALL(&c, upload, wire_string("empty"), wire_bytes("", 0));
	CALL(&c, download, wire_string("empty"));
	assert_slice(client_text(&c), "");
	CALL(&c, list, wire_string("."));
	assert_int_equal(client_text(&c).size, strlen("a.bin,empty"));
	CALL(&c, remove, wire_string("empty"));
	CALL(&c, remove, wire_string("never"));
	assert_int_equal(c.code, PACKET_RETURN);
	CALL(&c, list, wire_string("."));
	assert_slice(client_text(&c), "a.bin");
	CALL(&c, download, wire_string("never"));
	assert_exception(&c, "cannot find file never");
	for (i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		CALL(&c, download, wire_string(outside[i]));
		assert_exception(&c, *outside[i] ? "own folder" : "0 bytes");
		CALL(&c, upload, wire_string(outside[i]), wire_bytes("x", 1));
		assert_exception(&c, "");
		CALL(&c, remove, wire_string(outside[i]));
		/* TVM's runner of candidates ends with "" */
		if (*outside[i])
			assert_exception(&c, "");
		else
			assert_int_equal(c.code, PACKET_RETURN);
	}
	CALL(&c, upload, wire_string("large"), wire_bytes(large, sizeof(large)));
	assert_exception(&c, "folder-size");
	CALL(&c, client_function(&c, "tvm.rpc.server.load_module"), wire_string("a.bin"));
	assert_exception(&c, "a.bin");
	client_close(&c);
	assert_int_equal(c.result, 0);
}

/* A request of an upload, without its length; the caller frees it. */
static struct tenon_buffer upload_request(const struct client *c, uint64_t function,
					  const struct wire_value *values, uint32_t count)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	tenon_buffer_u32(&b, PACKET_CALL);
	tenon_buffer_u64(&b, function);
	wire_write_sequence(&b, c->generation, values, count);
	assert_int_equal(b.status, 0);
	return b;
}

static void assert_file(const struct client *c, const char *name, const char *bytes, size_t size)
{
	char path[5000], *found = malloc(size + 1);
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", c->folder, name);
	f = fopen(path, "rb");
	assert_non_null(f);
	assert_int_equal(fread(found, 1, size + 1, f), size);
	assert_memory_equal(found, bytes, size);
	fclose(f);
	free(found);
}

/* sizes around the stream's buffer and around the parts in which a session reads a large upload */
static void uploads_of_all_sizes_arrive(struct client *c)
{
	size_t most = 700000, head, size, i, j;
	struct tenon_buffer b;
	char *bytes = malloc(most);
	uint64_t upload;

	assert_non_null(bytes);
	for (i = 0; i < most; i++)
		bytes[i] = (char)(i * 7 + i / 251);
	client_init(c);
	upload = client_function(c, "tvm.rpc.server.upload");
	b = upload_request(c, upload,
			   (struct wire_value[]){ wire_string("x.bin"), wire_bytes("", 0) }, 2);
	head = b.size;
	tenon_buffer_fini(&b);
	for (i = 0; i < 3; i++) {
		for (j = 0; j < 3; j++) {
			size = STREAM_BUFFER + i * 262144 - head + j - 1;
			CALL(c, upload, wire_string("x.bin"), wire_bytes(bytes, size));
			assert_int_equal(c->code, PACKET_RETURN);
			assert_int_equal(c->values.count, 2);
			assert_int_equal(c->values.values[1].kind, WIRE_NONE);
			assert_file(c, "x.bin", bytes, size);
		}
	}
	/* a longer name, and text in place of bytes */
	CALL(c, upload, wire_string("././././././././././././././x.bin"),
	     { WIRE_STRING, { .text = { bytes, most } } });
	assert_int_equal(c->code, PACKET_RETURN);
	assert_file(c, "x.bin", bytes, most);
	free(bytes);
}

static void large_uploads_arrive_in_both_encodings(void **state)
{
	struct client c;

	(void)state;
	client_open(&c, WIRE_FFI);
	uploads_of_all_sizes_arrive(&c);
	client_close(&c);
	assert_int_equal(c.result, 0);
	client_open(&c, WIRE_LEGACY);
	uploads_of_all_sizes_arrive(&c);
	client_close(&c);
	assert_int_equal(c.result, 0);
}

static void a_large_upload_that_is_refused_costs_nothing_but_itself(void **state)
{
	static char large[17 << 20], name[8300];
	uint64_t upload, list;
	struct tenon_buffer b;
	struct client c;
	size_t head;

	(void)state;
	client_start(&c);
	upload = client_function(&c, "tvm.rpc.server.upload");
	list = client_function(&c, "tvm.rpc.server.listdir");
	CALL(&c, upload, wire_string("../x"), wire_bytes(large, 600000));
	assert_exception(&c, "own folder");
	CALL(&c, upload, wire_string("no/folder"), wire_bytes(large, 600000));
	assert_exception(&c, "cannot find file no/folder");
	CALL(&c, upload, wire_string("x"), wire_bytes(large, sizeof(large)));
	assert_exception(&c, "folder-size");
	CALL(&c, upload, wire_int(1), wire_bytes(large, 600000));
	assert_exception(&c, "");
	CALL(&c, upload, wire_bytes(large, 600000));
	assert_exception(&c, "");
	CALL(&c, upload, wire_string("x"), wire_bytes(large, 600000), wire_int(1));
	assert_exception(&c, "");
	CALL(&c, upload, wire_bytes(large, 600000), wire_bytes(large, 1));
	assert_exception(&c, "");
	memset(name, 'n', sizeof(name));
	CALL(&c, upload, wire_bytes(name, sizeof(name)), wire_bytes(large, 600000));
	assert_exception(&c, "");
	/* bytes after the last argument, which begin with the part that is not read ahead */
	b = upload_request(&c, upload, (struct wire_value[]){ wire_string("x"), wire_bytes("", 0) },
			   2);
	head = b.size;
	tenon_buffer_fini(&b);
	b = upload_request(
		&c, upload,
		(struct wire_value[]){ wire_string("x"), wire_bytes(large, STREAM_BUFFER - head) },
		2);
	tenon_buffer_append(&b, large, 5);
	client_send(&c, b.data, b.size);
	assert_true(client_receive(&c));
	assert_exception(&c, "after the last argument");
	tenon_buffer_fini(&b);
	CALL(&c, list, wire_string("."));
	assert_slice(client_text(&c), "");
	CALL(&c, upload, wire_string("x"), wire_bytes(large, 600000));
	assert_file(&c, "x", large, 600000);
	client_close(&c);
	assert_int_equal(c.result, 0);
}

static void an_end_within_a_large_upload_leaves_no_file(void **state)
{
	static char large[600000];
	struct tenon_buffer b;
	struct client c;
	uint64_t upload;
	char path[5000];
	size_t part;

	(void)state;
	for (part = 9; part < sizeof(large); part = part * 7) {
		client_start(&c);
		upload = client_function(&c, "tvm.rpc.server.upload");
		b = upload_request(
			&c, upload,
			(struct wire_value[]){ wire_string("x"), wire_bytes(large, sizeof(large)) },
			2);
		c.request.size = 0;
		tenon_buffer_u64(&c.request, b.size);
		tenon_buffer_append(&c.request, b.data, part);
		client_send_raw(&c, c.request.data, c.request.size);
		client_close_keeping(&c);
		assert_int_equal(c.result, -TENON_E_IO);
		snprintf(path, sizeof(path), "%s/x", c.folder);
		assert_int_equal(access(path, F_OK), -1);
		assert_int_equal(rmdir(c.folder), 0);
		tenon_buffer_fini(&b);
	}
}

#if defined(CONFIG_DSO) && defined(CONFIG_LINK)
/* an archive of two sources, which the compiler takes as objects */
static void put_archive(struct tenon_buffer *out)
{
	static const char *const text[][2] = {
		{ "a/lib.c",
		  "#include <stdint.h>\n"
		  "struct value { int32_t type, small; int64_t v; };\n"
		  "int64_t answer(void);\n"
		  "int __tvm_ffi_ask(void *s, const struct value *a, int32_t n, struct value *r)\n"
		  "{ r->type = 1; r->v = answer(); return 0; }\n" },
		{ "b/lib.c", "long long answer(void) { return 42; }\n" },
	};
	struct archive_files files = { NULL, 0 };
	struct archive_file *f;
	size_t i;

	for (i = 0; i < 2; i++) {
		assert_int_equal(archive_files_add(&files, text[i][0], &f), 0);
		tenon_buffer_slice(&f->bytes, tenon_slice_of(text[i][1]));
	}
	if (archive_write(&files, out)) {
		print_message("# %s\n", tenon_error_message());
		archive_files_fini(&files);
		skip();
	}
	archive_files_fini(&files);
}

static void objects_become_a_module(void **state)
{
	struct tenon_buffer archive = TENON_BUFFER_INIT;
	uint64_t upload, load, list;
	struct client c;
	int i;

	(void)state;
	put_archive(&archive);
	client_start(&c);
	upload = client_function(&c, "tvm.rpc.server.upload");
	load = client_function(&c, "tvm.rpc.server.load_module");
	list = client_function(&c, "tvm.rpc.server.listdir");
	CALL(&c, upload, wire_string("x.tar"), wire_bytes(archive.data, archive.size));
	/* the second time a module of the first is loaded */
	for (i = 0; i < 2; i++) {
		CALL(&c, load, wire_string("x.tar"));
		if (c.code != PACKET_RETURN)
			fail_msg("the archive is not linked");
	}
	/* nothing but the module is left */
	CALL(&c, list, wire_string("."));
	assert_int_equal(client_text(&c).size, strlen("x.tar,x.tar.so"));
	CALL(&c, client_function(&c, "tvm.rpc.server.download_linked_module"),
	     wire_string("x.tar"));
	assert_memory_equal(client_text(&c).data, "\177ELF", 4);
	CALL(&c, upload, wire_string("bad.o"), wire_bytes("no object", 9));
	CALL(&c, load, wire_string("bad.o"));
	assert_exception(&c, "bad.o");
	CALL(&c, upload, wire_string("bad.tar"), wire_bytes("no archive", 10));
	CALL(&c, load, wire_string("bad.tar"));
	assert_exception(&c, "bad.tar");
	setenv("CC", "/no/such/compiler", 1);
	CALL(&c, load, wire_string("x.tar"));
	assert_exception(&c, "Install one on the server");
	setenv("CC", " cc  -O1 ", 1);
	CALL(&c, load, wire_string("x.tar"));
	assert_int_equal(c.code, PACKET_RETURN);
	client_close(&c);
	assert_int_equal(c.result, 0);
	tenon_buffer_fini(&archive);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(CONFIG_DSO) && defined(CONFIG_LINK)
		cmocka_unit_test(objects_become_a_module),
#endif
		cmocka_unit_test(files_are_in_the_sessions_folder),
		cmocka_unit_test(large_uploads_arrive_in_both_encodings),
		cmocka_unit_test(a_large_upload_that_is_refused_costs_nothing_but_itself),
		cmocka_unit_test(an_end_within_a_large_upload_leaves_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
