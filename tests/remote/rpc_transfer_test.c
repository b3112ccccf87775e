/* SPDX-License-Identifier: MIT */
/* Tensors and files between our client and our session. */
#include "tests/remote/rpc_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <tenon/memory.h>
#include <tenon/remote.h>
#include <unistd.h>

#include "lib/sha256.h"

static void copy_there_and_back(int64_t *shape, int32_t ndim, DLDataType dtype)
{
	struct tenon_tensor *there = tensor(shape, ndim, dtype);
	DLTensor from = tenon_dltensor(NULL, shape, ndim, dtype), to = from;
	size_t bytes, i;

	assert_int_equal(tenon_tensor_bytes(&from, &bytes), 0);
	from.data = malloc(bytes + 1);
	to.data = calloc(1, bytes + 1);
	for (i = 0; i < bytes; i++)
		((uint8_t *)from.data)[i] = (uint8_t)(i * 7 + i / 251);
	assert_int_equal(tenon_tensor_copy(&from, &there->dl), 0);
	assert_int_equal(tenon_tensor_copy(&there->dl, &to), 0);
	assert_memory_equal(from.data, to.data, bytes);
	free(from.data);
	free(to.data);
	tenon_object_unref(there);
}

static void tensors_are_copied_in_both_directions(void **state)
{
	int64_t shape[] = { 3, 1 << 18 }, empty[] = { 0, 3 }, two[] = { 2, 3 };
	struct tenon_function *f = function("test.make");
	struct tenon_value made = tenon_arg_none();
	float numbers[6] = { 0 };
	DLTensor host = tenon_dltensor(numbers, two, 2, tenon_dtype(kDLFloat, 32, 1)), *dl;

	(void)state;
	copy_there_and_back(NULL, 0, tenon_dtype(kDLFloat, 32, 1));
	copy_there_and_back(empty, 2, tenon_dtype(kDLInt, 32, 1));
	copy_there_and_back(two, 2, tenon_dtype(kDLFloat, 16, 1));
	copy_there_and_back(shape, 2, tenon_dtype(kDLFloat, 32, 1));
	assert_int_equal(tenon_call(f, &made, tenon_arg_string("tensor")), 0);
	assert_int_equal(tenon_value_tensor(&made, &dl), 0);
	assert_int_equal(dl->ndim, 2);
	assert_int_equal(tenon_tensor_copy(dl, &host), 0);
	assert_true(numbers[5] == 7);
	tenon_value_release(&made);
	tenon_object_unref(f);
}

static void parts_of_tensors_are_copied(void **state)
{
	int64_t eight[] = { 8 }, three[] = { 3 };
	DLDataType byte = tenon_dtype(kDLUInt, 8, 1);
	struct tenon_tensor *a = tensor(eight, 1, byte), *b = tensor(eight, 1, byte);
	char text[8] = "abcdefgh", part[3];
	DLTensor host = tenon_dltensor(text, eight, 1, byte), view = a->dl, small;

	(void)state;
	assert_int_equal(tenon_tensor_copy(&host, &a->dl), 0);
	assert_int_equal(tenon_tensor_copy(&a->dl, &b->dl), 0);
	view = b->dl;
	view.shape = three;
	view.strides = NULL;
	view.byte_offset = 4;
	small = tenon_dltensor(part, three, 1, byte);
	assert_int_equal(tenon_tensor_copy(&view, &small), 0);
	assert_memory_equal(part, "efg", 3);
	assert_int_equal(tenon_tensor_copy(&(DLTensor){ .data = part,
							.device = { kDLCPU, 0 },
							.ndim = 1,
							.dtype = byte,
							.shape = three },
					   &view),
			 0);
	view.byte_offset = 7;
	/* one element too many: refused here or there */
	assert_true(tenon_tensor_copy(&view, &small) < 0);
	tenon_error_clear();
	tenon_object_unref(a);
	tenon_object_unref(b);
}

static void files_are_sent_once(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	char path[4200];
	bool sent;
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s-file", session.folder);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("content", f);
	fclose(f);
	assert_int_equal(tenon_remote_send_file(session.remote, path, "name", &sent), 0);
	assert_true(sent);
	assert_int_equal(tenon_remote_send_file(session.remote, path, "name", &sent), 0);
	assert_int_equal(sent, session.wait_each);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("CONTENT", f);
	fclose(f);
	assert_int_equal(tenon_remote_send_file(session.remote, path, "name", &sent), 0);
	assert_true(sent);
	assert_int_equal(tenon_remote_download(session.remote, "name", &b), 0);
	assert_int_equal(b.size, 7);
	assert_memory_equal(b.data, "CONTENT", 7);
	tenon_buffer_fini(&b);
	assert_int_equal(tenon_remote_list_files(session.remote, NULL, &b), 0);
	assert_int_equal(b.size, 4);
	tenon_buffer_fini(&b);
	assert_int_equal(tenon_remote_remove(session.remote, "name"), 0);
	assert_int_equal(tenon_remote_download(session.remote, "name", &b), -TENON_E_CALL);
	assert_non_null(strstr(tenon_error_message(), "name"));
	assert_int_equal(
		tenon_remote_upload(session.remote, "empty", (struct tenon_slice){ "", 0 }), 0);
	tenon_error_clear();
	unlink(path);
}

static void a_large_file_is_downloaded_to_any_buffer(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	const size_t size = 3 << 20;
	char *bytes = malloc(size);
	size_t i;

	(void)state;
	assert_non_null(bytes);
	for (i = 0; i < size; i++)
		bytes[i] = (char)(i * 7 + i / 251);
	assert_int_equal(
		tenon_remote_upload(session.remote, "large", (struct tenon_slice){ bytes, size }),
		0);
	/* into an empty one, and behind what is there */
	assert_int_equal(tenon_remote_download(session.remote, "large", &b), 0);
	assert_int_equal(b.size, size);
	assert_memory_equal(b.data, bytes, size);
	assert_int_equal(tenon_remote_download(session.remote, "large", &b), 0);
	assert_int_equal(b.size, 2 * size);
	assert_memory_equal(b.data + size, bytes, size);
	tenon_buffer_fini(&b);
	assert_int_equal(tenon_remote_remove(session.remote, "large"), 0);
	free(bytes);
}

static void hashes_are_those_of_the_standard(void **state)
{
	struct sha256 h;
	char text[SHA256_TEXT];
	int i;

	(void)state;
	sha256_init(&h);
	sha256_add(&h, "abc", 3);
	sha256_text(&h, text);
	assert_string_equal(text,
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	sha256_init(&h);
	for (i = 0; i < 1000000; i++)
		sha256_add(&h, "a", 1);
	sha256_text(&h, text);
	assert_string_equal(text,
			    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(tensors_are_copied_in_both_directions),
		BOTH(parts_of_tensors_are_copied),
		BOTH(files_are_sent_once),
		BOTH(a_large_file_is_downloaded_to_any_buffer),
		cmocka_unit_test(hashes_are_those_of_the_standard),
	};

	return cmocka_run_group_tests(tests, register_functions, NULL);
}
