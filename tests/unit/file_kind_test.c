/* SPDX-License-Identifier: MIT */
/* What files that are not ELF are called, by their first bytes or the members of an archive. */
#include "runtime/kind/file_kind.h"

#include <tenon/backend/buffer.h>

#include "tests/unit/elf_image.h"

static void what_is_not_elf_is_called_by_its_name(void **state)
{
	static char tar[1024];
	static const struct {
		struct tenon_slice bytes;
		const char *message;
	} cases[] = {
		{ { "", 0 }, "f: not an ELF file; it looks like an empty file" },
		{ { "hello\n", 6 }, "f: not an ELF file; it looks like text" },
		{ { "{\"a\": 1}", 8 }, "f: not an ELF file; it looks like JSON text" },
		{ { "MZ\x90\0", 4 }, "f: not an ELF file; it looks like a Windows library (PE)" },
		{ { "\xcf\xfa\xed\xfe\7", 5 },
		  "f: not an ELF file; it looks like a macOS library (Mach-O, 64-bit)" },
		{ { "!<arch>\nx", 9 },
		  "f: not an ELF file; it looks like a static archive of object files (.a); "
		  "link it into a program, or into a module with cc -shared "
		  "-Wl,--whole-archive" },
		{ { "\x1f\x8b\x08", 3 }, "f: not an ELF file; it looks like a gzip archive" },
		{ { "PK\x03\x04", 4 }, "f: not an ELF file; it looks like a zip archive" },
		{ { "\x93NUMPY", 6 }, "f: not an ELF file; it looks like a NumPy array" },
		{ { "\xb7\x9c\x04\x05\x4f\x8d\xe5\xf7", 8 },
		  "f: not an ELF file; it looks like TVM parameters (.params)" },
		{ { "\1\2\3\4", 4 }, "f: not an ELF file; it looks like unknown bytes" },
		{ { tar, sizeof(tar) },
		  "f: not an ELF file; it looks like a tar archive; it is a Model Library Format "
		  "archive: tenon link -o model.so makes a module of it" },
		{ { "\x7f"
		    "ELF",
		    4 },
		  "f: an ELF file of neither 32 nor 64 bits" },
		{ { "\x7f"
		    "ELF\2\1\1\0\0\0\0\0\0\0\0\0",
		    16 },
		  "f: 16 bytes are less than an ELF header: it is truncated" },
	};
	struct elf_file elf;
	size_t k;

	(void)state;
	strcpy(tar, "./metadata.json");
	memcpy(tar + 257, "ustar", 5);
	for (k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		assert_true(file_open_elf(&elf, cases[k].bytes, "f") < 0);
		assert_error(cases[k].message);
	}
}

static void networks_and_weights_are_recognised(void **state)
{
	static const struct {
		struct tenon_slice bytes;
		const char *what;
		const char *remedy;
	} cases[] = {
		{ { "\x08\x08\x12\x07pytorch", 11 }, "an ONNX model (.onnx)", "tenon-compile" },
		{ { "\x08\x01\x12\xff\x7f\x0a", 6 },
		  "a network that TensorFlow saved (saved_model.pb)",
		  "tf2onnx" },
		{ { "\x1c\0\0\0TFL3\x14\0", 10 },
		  "a TensorFlow Lite model (.tflite)",
		  "make a module of it with" },
		{ { "\x1c\0\0\0TFL3\x14\0ethos-u", 17 },
		  "a TensorFlow Lite model that Vela compiled for Ethos-U (.tflite)",
		  "CONFIG_TFLITE_EXECUTOR" },
		{ { "\x7f"
		    "ELF\2\1\1\0\0\0\0\0\0\0\0\0\1\0",
		    18 },
		  "an object file (.o)",
		  "cc -shared" },
		{ { "\x7f"
		    "ELF\1\2\1\0\0\0\0\0\0\0\0\0\0\1",
		    18 },
		  "an object file (.o)",
		  "cc -shared" },
		{ { "\x7f"
		    "ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0",
		    18 },
		  "an ELF file",
		  "extension .so" },
		{ { "\x89HDF\r\n\x1a\n", 8 }, "an HDF5 file (.h5), as Keras writes", "tf2onnx" },
		{ { "GGUF\3\0\0\0", 8 }, "weights in GGUF (.gguf)", "tenon-compile" },
		{ { "\x40\0\0\0\0\0\0\0{\"__metadata__\"", 24 },
		  "weights in safetensors (.safetensors)",
		  "weights and no network" },
		{ { "\x80\x02\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19", 14 },
		  "weights or objects of PyTorch (.pt)",
		  "torch.export.save()" },
		/* beginnings that are less than that */
		{ { "\x7f"
		    "ELF",
		    4 },
		  "an ELF file",
		  "extension .so" },
		{ { "\x7f"
		    "ELF\2\1\1\0\0\0\0\0\0\0\0\0\1\1",
		    18 },
		  "an ELF file",
		  "extension .so" },
		{ { "\x08\x08\x13\x07", 4 }, "unknown bytes", "" },
		{ { "\x08\x21\x12\x07", 4 }, "unknown bytes", "" },
		{ { "a\f\t\r\n", 5 }, "text", "" },
		{ { "PK\3\4....PK\3\5....................................", 48 },
		  "a zip archive",
		  "" },
		{ { "PK\3\4....PK\1\3................................................", 60 },
		  "a zip archive",
		  "" },
		{ { "PK\3\4\0\0\0\0arr_0.npy", 17 }, "a zip archive", "" },
		{ { "\x08\x08\x12", 3 }, "unknown bytes", "" },
		{ { "\x08\x02\x12\x07", 4 }, "unknown bytes", "" },
		{ { "\x40\0\0\0\0\0\0\0{", 9 }, "unknown bytes", "" },
		{ { "GGU", 3 }, "text", "" },
		{ { "", 0 }, "an empty file", "" },
		{ { NULL, 0 }, "an empty file", "" },
	};
	size_t k;

	(void)state;
	for (k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		assert_string_equal(file_kind(cases[k].bytes), cases[k].what);
		if (*cases[k].remedy)
			assert_non_null(strstr(file_advice(cases[k].bytes), cases[k].remedy));
		else
			assert_string_equal(file_advice(cases[k].bytes), "");
	}
}

/* Append a member without data, or an entry of the directory. */
static void put_zip(struct tenon_buffer *b, const char *name, bool entry)
{
	static const char zeros[46];
	const size_t head = entry ? 46 : 30, at = b->size;

	tenon_buffer_append(b, zeros, head);
	memcpy(b->data + at, entry ? "PK\1\2" : "PK\3\4", 4);
	b->data[at + (entry ? 28 : 26)] = (char)strlen(name);
	tenon_buffer_append(b, name, strlen(name));
}

static void assert_zip(struct tenon_buffer *b, const char *what, const char *remedy)
{
	assert_int_equal(b->status, 0);
	assert_string_equal(file_kind(slice_of(b)), what);
	assert_non_null(strstr(file_advice(slice_of(b)), remedy));
	b->size = 0;
}

static void zip_archives_are_recognised_by_their_members(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	static const char weights[FILE_KIND_HEAD];
	int i;

	(void)state;
	/* as torch.export.save() does: weights first, and what it is only at the end */
	put_zip(&b, "x/data/weights/weight_0", false);
	for (i = 0; i < 20; i++)
		tenon_buffer_append(&b, weights, sizeof(weights));
	put_zip(&b, "x/data/weights/weight_0", true);
	put_zip(&b, "x/archive_format", true);
	assert_zip(&b, "a PyTorch exported program (.pt2)", "compile/tenon-compile");
	put_zip(&b, "serialized_exported_program.json", false);
	assert_zip(&b, "a PyTorch exported program (.pt2)", "docs/making-modules.md");
	put_zip(&b, "x/archive_format", false);
	put_zip(&b, "x/data/aotinductor/model/a.so", true);
	assert_zip(&b, "a network that PyTorch compiled for itself (.pt2)", "torch.export.save()");
	put_zip(&b, "ts/data.pkl", false);
	put_zip(&b, "ts/constants.pkl", true);
	assert_zip(&b, "a TorchScript program (.pt)", "TVM reads no TorchScript: export");
	put_zip(&b, "sd/data.pkl", false);
	assert_zip(&b, "weights or objects of PyTorch (.pt)", "it holds no network: export");
	put_zip(&b, "config.json", false);
	put_zip(&b, "model.weights.h5", true);
	assert_zip(&b, "a Keras model (.keras)", "tf2onnx");
	put_zip(&b, "arr_0.npy", false);
	assert_zip(&b, "NumPy arrays (.npz)", "tenon params from-npz");
	/* a name that is cut, one that is no member's, and none */
	put_zip(&b, "x/archive_format", false);
	b.size -= 3;
	assert_zip(&b, "a zip archive", "");
	put_zip(&b, "text", false);
	tenon_buffer_append(&b, "archive_format", 14);
	assert_zip(&b, "a zip archive", "");
	tenon_buffer_append(&b, "PK\3\4PK", 6);
	assert_zip(&b, "a zip archive", "");
	/* bytes of a member that look like a header make no name of all that follows */
	put_zip(&b, "text", false);
	memset(b.data + 26, 0xff, 2);
	tenon_buffer_append(&b, weights, 600);
	tenon_buffer_append(&b, "archive_format", 14);
	tenon_buffer_append(&b, weights, sizeof(weights));
	assert_zip(&b, "a zip archive", "");
	tenon_buffer_fini(&b);
}

static void put_member(char *tar, const char *name, const char *octal_size)
{
	strcpy(tar, name);
	strcpy(tar + 124, octal_size);
	memcpy(tar + 257, "ustar", 5);
}

static void archives_are_recognised_by_their_members(void **state)
{
	static char tar[4 * 512];
	const struct tenon_slice file = { tar, sizeof(tar) };

	(void)state;
	assert_string_equal(file_advice((struct tenon_slice){ "text", 4 }), "");
	/* the second member stands behind 600 bytes, rounded up to two blocks */
	put_member(tar, "first", "00000001130");
	put_member(tar + 3 * 512, "lib0.o", "00000000001");
	assert_string_equal(file_kind(file), "a tar archive");
	assert_string_equal(file_advice(file),
			    "; it is an archive of object files: link them with cc -shared");
	put_member(tar + 3 * 512, "devc.c", "00000000001");
	assert_string_equal(file_advice(file),
			    "; it is an archive of C files: compile them with cc -shared");
	put_member(tar + 3 * 512, "devc.o", "00000000001");
	assert_string_equal(file_advice(file),
			    "; it is an archive of object files: link them with cc -shared");
	put_member(tar + 3 * 512, "lib0.c", "00000000001");
	assert_string_equal(file_advice(file),
			    "; it is an archive of C files: compile them with cc -shared");
	/* a size that is no number ends where it is none */
	put_member(tar, "first", "11309");
	assert_string_equal(file_advice(file),
			    "; it is an archive of C files: compile them with cc -shared");
	/* a size that leads out of the file ends the search */
	put_member(tar, "first", "77777777777");
	assert_string_equal(file_advice(file), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_elf_is_called_by_its_name),
		cmocka_unit_test(networks_and_weights_are_recognised),
		cmocka_unit_test(archives_are_recognised_by_their_members),
		cmocka_unit_test(zip_archives_are_recognised_by_their_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
