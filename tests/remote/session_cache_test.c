/* SPDX-License-Identifier: MIT */
/* A session whose client asks for files that need not be sent again: what is in its folder, in the cache, and what only seems so. */
#include "tests/unit/suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/sha256.h"
#include "rpc/server/file_cache.h"
#include "rpc/server/folder.h"
#include "tests/remote/client.h"

static char folder[4000], cache[4100];

static int make_cache(void **state)
{
	const char *base = getenv("TMPDIR");

	(void)state;
	snprintf(folder, sizeof(folder), "%s/cache-XXXXXX", base && *base ? base : "/tmp");
	if (!mkdtemp(folder))
		return 1;
	snprintf(cache, sizeof(cache), "%s/cache", folder);
	return mkdir(cache, 0700);
}

static int remove_cache(void **state)
{
	(void)state;
	folder_remove(folder);
	return 0;
}

static void hash_of(const char *text, char hash[SHA256_TEXT])
{
	struct sha256 h;

	sha256_init(&h);
	sha256_add(&h, text, strlen(text));
	sha256_text(&h, hash);
}

/* Write a file of the cache by its name. */
static void put_in_cache(const char *name, const char *text)
{
	char path[4300];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", cache, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* a session with the cache, whose folder may have so many bytes */
static uint64_t start(struct client *c, uint64_t most)
{
	client_open(c, WIRE_FFI);
	c->options.cache = cache;
	c->options.folder_most = most;
	client_init(c);
	return client_function(c, "tenon.rpc.use_file");
}

/* Return: whether the session has the file now */
static bool use(struct client *c, uint64_t f, const char *name, const char *hash, int64_t size)
{
	CALL(c, f, wire_string(name), wire_string(hash), wire_int(size));
	assert_int_equal(c->code, PACKET_RETURN);
	assert_int_equal(c->values.values[1].kind, WIRE_BOOL);
	return c->values.values[1].as.integer;
}

static void a_file_that_is_there_need_not_be_sent(void **state)
{
	char hash[SHA256_TEXT], other[SHA256_TEXT];
	struct client c;
	uint64_t f;

	(void)state;
	hash_of("uploaded", hash);
	hash_of("another", other);
	f = start(&c, 1000);
	assert_false(use(&c, f, "a", hash, 8));
	CALL(&c, client_function(&c, "tvm.rpc.server.upload"), wire_string("a"),
	     wire_bytes("uploaded", 8));
	assert_true(use(&c, f, "a", hash, 8));
	assert_true(use(&c, f, "./a", hash, 8));
	/* another content, size or name */
	assert_false(use(&c, f, "a", other, 8));
	assert_false(use(&c, f, "a", hash, 7));
	assert_false(use(&c, f, "a", hash, -1));
	assert_false(use(&c, f, "b", hash, 8));
	assert_false(use(&c, f, ".", hash, 8));
	assert_false(use(&c, f, "a", "no hash", 8));
	client_close(&c);
	assert_int_equal(c.result, 0);
}

static void a_file_of_the_cache_is_copied(void **state)
{
	char hash[SHA256_TEXT];
	struct client c;
	uint64_t f, download;

	(void)state;
	hash_of("of before", hash);
	put_in_cache(hash, "of before");
	f = start(&c, 1000);
	download = client_function(&c, "tvm.rpc.server.download");
	assert_true(use(&c, f, "a", hash, 9));
	CALL(&c, download, wire_string("a"));
	assert_slice(client_text(&c), "of before");
	/* in the place of a file that is there, and of what a name leads to */
	CALL(&c, client_function(&c, "tvm.rpc.server.upload"), wire_string("b"),
	     wire_bytes("x", 1));
	assert_true(use(&c, f, "b", hash, 9));
	CALL(&c, download, wire_string("b"));
	assert_slice(client_text(&c), "of before");
	assert_false(use(&c, f, "no/folder", hash, 9));
	assert_false(use(&c, f, "a/b", hash, 9));
	assert_false(use(&c, f, "c", hash, 10));
	client_close(&c);
	assert_int_equal(c.result, 0);
}

static void a_file_of_the_cache_that_is_not_what_its_name_says_is_not_used(void **state)
{
	char hash[SHA256_TEXT];
	struct client c;
	uint64_t f;

	(void)state;
	hash_of("as it was", hash);
	put_in_cache(hash, "as it is.");
	f = start(&c, 1000);
	assert_false(use(&c, f, "a", hash, 9));
	CALL(&c, client_function(&c, "tvm.rpc.server.listdir"), wire_string("."));
	assert_slice(client_text(&c), "");
	client_close(&c);
	assert_int_equal(c.result, 0);
}

static void a_file_of_the_cache_counts_for_the_folder(void **state)
{
	char hash[SHA256_TEXT];
	struct client c;
	uint64_t f, upload;

	(void)state;
	hash_of("of before", hash);
	put_in_cache(hash, "of before");
	f = start(&c, 12);
	upload = client_function(&c, "tvm.rpc.server.upload");
	CALL(&c, upload, wire_string("a"), wire_bytes("1234", 4));
	assert_int_equal(c.code, PACKET_RETURN);
	CALL(&c, f, wire_string("b"), wire_string(hash), wire_int(9));
	assert_exception(&c, "folder-size");
	assert_true(use(&c, f, "a", hash, 9));
	CALL(&c, upload, wire_string("b"), wire_bytes("1234", 4));
	assert_exception(&c, "folder-size");
	CALL(&c, client_function(&c, "tvm.rpc.server.remove"), wire_string("a"));
	CALL(&c, upload, wire_string("b"), wire_bytes("1234", 4));
	assert_int_equal(c.code, PACKET_RETURN);
	client_close(&c);
	assert_int_equal(c.result, 0);
}

static void wrong_requests_for_a_file_are_refused(void **state)
{
	char hash[SHA256_TEXT];
	struct client c;
	uint64_t f;

	(void)state;
	hash_of("of before", hash);
	f = start(&c, 1000);
	CALL(&c, f, wire_string("../a"), wire_string(hash), wire_int(9));
	assert_exception(&c, "own folder");
	CALL(&c, f, wire_string(".upload"), wire_string(hash), wire_int(9));
	assert_exception(&c, "own folder");
	CALL(&c, f, wire_string("a"), wire_int(9), wire_int(9));
	assert_exception(&c, "");
	CALL(&c, f, wire_string("a"), wire_string(hash), wire_string("9"));
	assert_exception(&c, "");
	CALL(&c, f, wire_string("a"), wire_string(hash));
	assert_exception(&c, "2 arguments, expected 3");
	CALL(&c, client_function(&c, "tvm.rpc.server.listdir"), wire_string("a"));
	assert_exception(&c, "cannot find file a");
	CALL(&c, client_function(&c, "tvm.rpc.server.remove"), wire_string("."));
	assert_exception(&c, "");
	CALL(&c, client_function(&c, "tvm.rpc.server.download"), wire_string("."));
	assert_exception(&c, "");
	client_close(&c);
	assert_int_equal(c.result, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_is_there_need_not_be_sent),
		cmocka_unit_test(a_file_of_the_cache_is_copied),
		cmocka_unit_test(a_file_of_the_cache_that_is_not_what_its_name_says_is_not_used),
		cmocka_unit_test(a_file_of_the_cache_counts_for_the_folder),
		cmocka_unit_test(wrong_requests_for_a_file_are_refused),
	};

	return cmocka_run_group_tests(tests, make_cache, remove_cache);
}
