/* SPDX-License-Identifier: MIT */
#include "tests/unit/elf_image.h"

#include <dlfcn.h>

#include "lib/file_kind.h"

static const char *const three[] = { "alpha", "beta", "__tvm_dev_mblob", NULL };

/* every class, byte order and way to the symbols */
#define EACH_IMAGE(i)                                                                              \
	for (struct image i = { .names = three, .content_of = 2, .content = { "the blob", 8 } },   \
			  *once = &i;                                                              \
	     once; once = NULL)                                                                    \
		for (int n = 0; n < 12 && image_variant(&i, n); n++)

static bool image_variant(struct image *i, int n)
{
	i->wide = n & 1;
	i->big = n & 2;
	i->way = (enum image_way)(n / 4);
	i->machine = i->big ? 21 : 183;
	return true;
}

static void symbols_of_any_machine_are_found(void **state)
{
	(void)state;
	EACH_IMAGE(i)
	{
		struct tenon_buffer b = image_of(&i);
		struct tenon_slice bytes;
		struct elf_symbol s;
		struct elf_file elf;

		if (elf_open(&elf, slice_of(&b), "lib.so")) {
			print_error("variant %d: %s\n", n, tenon_error_message());
			fail();
		}
		assert_int_equal(elf.wide, i.wide);
		assert_int_equal(elf.big, i.big);
		assert_int_equal(elf.symbols.count, 4);
		elf_symbol(&elf, 1, &s);
		assert_slice(s.name, "alpha");
		assert_int_equal(s.kind, ELF_SYMBOL_FUNCTION);
		assert_true(s.defined && s.global);
		elf_symbol(&elf, 3, &s);
		assert_slice(s.name, "__tvm_dev_mblob");
		assert_int_equal(s.kind, ELF_SYMBOL_OBJECT);
		assert_int_equal(s.value, IMAGE_BASE + IMAGE_CONTENT);
		assert_int_equal(s.size, 8);
		assert_int_equal(elf_symbol_bytes(&elf, &s, &bytes), 0);
		assert_slice(bytes, "the blob");
		tenon_buffer_fini(&b);
	}
}

static void machines_have_names(void **state)
{
	static const struct {
		uint16_t machine;
		bool wide;
		const char *name;
	} cases[] = { { 62, true, "x86-64" },	     { 3, false, "x86" },
		      { 183, true, "aarch64" },	     { 40, false, "arm" },
		      { 243, true, "riscv64" },	     { 243, false, "riscv32" },
		      { 4711, true, "machine 4711" } };
	size_t k;

	(void)state;
	for (k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		const struct elf_file elf = { .machine = cases[k].machine, .wide = cases[k].wide };

		assert_string_equal(elf_machine_name(&elf), cases[k].name);
	}
}

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
		assert_true(elf_open(&elf, cases[k].bytes, "f") < 0);
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

static void a_file_cut_anywhere_is_refused_or_read_within_its_bytes(void **state)
{
	(void)state;
	EACH_IMAGE(i)
	{
		struct tenon_buffer b = image_of(&i);
		size_t size;

		for (size = 0; size < b.size; size++) {
			char *copy = malloc(size + 1);
			struct elf_file elf;
			int err;

			memcpy(copy, b.data, size);
			err = elf_open(&elf, (struct tenon_slice){ copy, size }, "cut.so");
			assert_true(err < 0);
			assert_true(err == -TENON_E_TRUNCATED || size < 16);
			tenon_error_clear();
			free(copy);
		}
		tenon_buffer_fini(&b);
	}
}

/* damage is found, or does no harm: every symbol can be read whatever it says */
static void any_changed_byte_is_survived(void **state)
{
	(void)state;
	EACH_IMAGE(i)
	{
		struct tenon_buffer b = image_of(&i);
		size_t at;

		for (at = 0; at < IMAGE_CONTENT; at++) {
			static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
			char old = b.data[at];
			size_t v;

			for (v = 0; v < sizeof(values); v++) {
				struct tenon_slice bytes;
				struct elf_symbol s;
				struct elf_file elf;
				uint64_t k;

				b.data[at] = (char)values[v];
				if (!elf_open(&elf, slice_of(&b), "edited.so")) {
					for (k = 0; k < elf.symbols.count && k < 1000; k++) {
						elf_symbol(&elf, k, &s);
						elf_symbol_bytes(&elf, &s, &bytes);
					}
					elf_needed(&elf, 0);
				}
				tenon_error_clear();
			}
			b.data[at] = old;
		}
		tenon_buffer_fini(&b);
	}
}

static void a_segment_behind_the_end_is_named(void **state)
{
	struct image i = { .wide = true, .machine = 62, .names = three };
	struct tenon_buffer b = image_of(&i);
	struct elf_file elf;

	(void)state;
	b.size--;
	assert_int_equal(elf_open(&elf, slice_of(&b), "cut.so"), -TENON_E_TRUNCATED);
	assert_error(
		"cut.so: segment 0 of 2560 bytes at 0x0 lies outside the file of 2559 bytes: it is "
		"truncated");
	tenon_buffer_fini(&b);
}

static void a_name_without_an_end_is_none(void **state)
{
	struct image i = { .wide = true, .machine = 62, .names = three };
	struct tenon_buffer b = image_of(&i);
	struct elf_symbol s;
	struct elf_file elf;

	(void)state;
	/* the NUL behind the last name */
	b.data[IMAGE_STRINGS + 1 + sizeof("alpha") + sizeof("beta") + strlen(three[2])] = 'x';
	assert_int_equal(elf_open(&elf, slice_of(&b), "lib.so"), 0);
	assert_int_equal(elf.names.count, 1 + sizeof("alpha") + sizeof("beta"));
	elf_symbol(&elf, 2, &s);
	assert_slice(s.name, "beta");
	elf_symbol(&elf, 3, &s);
	assert_slice(s.name, "");
	tenon_buffer_fini(&b);
}

static void a_symbol_without_bytes_in_the_file_is_named(void **state)
{
	struct image i = { .wide = true, .machine = 62, .names = three };
	struct tenon_buffer b = image_of(&i);
	struct tenon_slice bytes;
	struct elf_symbol s;
	struct elf_file elf;

	(void)state;
	assert_int_equal(elf_open(&elf, slice_of(&b), "lib.so"), 0);
	elf_symbol(&elf, 1, &s);
	s.value = 0xdead0000;
	assert_int_equal(elf_symbol_bytes(&elf, &s, &bytes), -TENON_E_FORMAT);
	assert_error("lib.so: symbol alpha at 0xdead0000 has no bytes in the file");
	s.value = IMAGE_BASE + 0xa00 - 10;
	s.size = 11;
	assert_int_equal(elf_symbol_bytes(&elf, &s, &bytes), -TENON_E_TRUNCATED);
	assert_error("lib.so: symbol alpha has 11 bytes, 10 are left in its segment");
	tenon_buffer_fini(&b);
}

static void a_hash_table_at_the_end_of_its_segment_has_no_symbols(void **state)
{
	static const enum image_way ways[] = { IMAGE_HASH, IMAGE_GNU_HASH };

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		struct image i = { .wide = true, .machine = 62, .names = three, .way = ways[k] };
		struct tenon_buffer b = image_of(&i);
		struct elf_file elf;

		assert_int_equal(elf_open(&elf, slice_of(&b), "lib.so"), 0);
		assert_true(elf.symbols.count);
		/* the address in the dynamic entry: the last four bytes, and none at all */
		b.data[IMAGE_DYNAMIC + 56] = (char)(b.size - 4);
		b.data[IMAGE_DYNAMIC + 57] = (char)((b.size - 4) >> 8);
		assert_int_equal(elf_open(&elf, slice_of(&b), "lib.so"), 0);
		assert_int_equal(elf.symbols.count, 0);
		b.data[IMAGE_DYNAMIC + 60] = 1;
		assert_int_equal(elf_open(&elf, slice_of(&b), "lib.so"), 0);
		assert_int_equal(elf.symbols.count, 0);
		tenon_buffer_fini(&b);
	}
}

static uint16_t section_of_type(const struct elf_file *elf, uint32_t type)
{
	for (uint16_t k = 0; k < elf->sections.count; k++)
		if (elf_section(elf, k).type == type)
			return k;
	fail_msg("no section of type %u", type);
	return 0;
}

static void assert_no_bytes(const struct elf_file *elf, const struct elf_symbol *s)
{
	struct tenon_slice bytes;

	assert_int_equal(elf_symbol_bytes(elf, s, &bytes), -TENON_E_FORMAT);
	assert_error_has("has no bytes in the file");
}

static void an_object_file_has_symbols_too(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct elf_symbol s = { .name = tenon_slice_of("s") };
	struct tenon_slice file, bytes;
	struct elf_file elf;

	(void)state;
	assert_int_equal(file_map_open(data_file("tvm-0.18/syslib_prefix/lib.o"), &file), 0);
	assert_int_equal(tenon_buffer_append(&b, file.data, file.size), 0);
	file_map_close(&file);
	assert_int_equal(elf_open(&elf, slice_of(&b), "lib.o"), 0);
	assert_int_equal(elf.type, ELF_RELOCATABLE);
	assert_true(elf.symbols.count > 3);
	/* in a section of zeros, behind the end of one, in none */
	s.section = section_of_type(&elf, ELF_SECTION_NOBITS);
	assert_no_bytes(&elf, &s);
	s.section = section_of_type(&elf, ELF_SECTION_PROGBITS);
	assert_int_equal(elf_symbol_bytes(&elf, &s, &bytes), 0);
	s.value = elf_section(&elf, s.section).size + 1;
	assert_no_bytes(&elf, &s);
	s.value = 0;
	memset(b.data + elf.sections.offset + s.section * elf.sections.step + 24, 0x7f, 8);
	assert_no_bytes(&elf, &s);
	s.section = UINT16_MAX;
	assert_no_bytes(&elf, &s);
	tenon_buffer_fini(&b);
}

static void a_section_is_found_by_its_name(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_slice file, bytes;
	struct elf_section names;
	struct elf_file elf;
	char *header;

	(void)state;
	assert_int_equal(file_map_open(data_file("tvm-0.18/syslib_prefix/lib.o"), &file), 0);
	assert_int_equal(tenon_buffer_append(&b, file.data, file.size), 0);
	file_map_close(&file);
	assert_int_equal(elf_open(&elf, slice_of(&b), "lib.o"), 0);
	assert_true(elf_find_section(&elf, ".symtab", &bytes));
	assert_true(bytes.size);
	assert_false(elf_find_section(&elf, ".of-no-section", &bytes));
	/* names that end before the one that is looked for, at the end of the file, in no bytes, and nowhere */
	names = elf_section(&elf, elf.section_names);
	header = b.data + elf.sections.offset + elf.section_names * elf.sections.step;
	assert_true(names.size > 4 && names.size < 256 * 256);
	memset(header + 32, 0, 8);
	header[32] = 4;
	assert_false(elf_find_section(&elf, ".symtab", &bytes));
	memset(header + 32, 0x7f, 8);
	assert_false(elf_find_section(&elf, ".symtab", &bytes));
	header[4] = ELF_SECTION_NOBITS;
	assert_false(elf_find_section(&elf, ".symtab", &bytes));
	elf.section_names = UINT16_MAX;
	assert_false(elf_find_section(&elf, ".symtab", &bytes));
	/* an object file needs its sections */
	memset(b.data + 40, 0x7f, 8);
	assert_int_equal(elf_open(&elf, slice_of(&b), "lib.o"), -TENON_E_TRUNCATED);
	assert_error_has("section headers");
	tenon_buffer_fini(&b);
}

#if defined(__x86_64__)
static void assert_unloadable(const struct tenon_buffer *b, int status, const char *message)
{
	const char *path = scratch_file("unloadable.so");
	char want[2200];

	write_scratch(path, slice_of(b));
	assert_int_equal(elf_check_loadable(path), status);
	snprintf(want, sizeof(want), "%s: %s", path, message);
	assert_error(want);
	unlink(path);
}

static void what_cannot_be_loaded_here_is_said_why(void **state)
{
	struct image i = { .wide = true, .machine = 183, .names = three };
	struct tenon_buffer b = image_of(&i);

	(void)state;
	assert_unloadable(
		&b, -TENON_E_FORMAT,
		"made for aarch64 (64-bit, little-endian), this program runs on x86-64 "
		"(64-bit, little-endian); export the module for this machine, or inspect it only");
	tenon_buffer_fini(&b);
	i.wide = false;
	i.machine = 3;
	b = image_of(&i);
	assert_unloadable(
		&b, -TENON_E_FORMAT,
		"made for x86 (32-bit, little-endian), this program runs on x86-64 "
		"(64-bit, little-endian); export the module for this machine, or inspect it only");
	tenon_buffer_fini(&b);
	i.wide = true;
	i.machine = 62;
	b = image_of(&i);
	b.data[16] = 1;
	assert_unloadable(&b, -TENON_E_FORMAT,
			  "an object file, want a shared object; link it with cc -shared");
	b.data[16] = 2;
	assert_unloadable(
		&b, -TENON_E_FORMAT,
		"a program, want a module; a module is a shared object that TVM writes with "
		"export_library()");
	b.data[16] = 4;
	assert_unloadable(&b, -TENON_E_FORMAT, "an ELF file of type 4, want a shared object");
	/* the machine's other byte order, and its other size of addresses */
	tenon_buffer_fini(&b);
	i.big = true;
	b = image_of(&i);
	assert_unloadable(
		&b, -TENON_E_FORMAT,
		"made for x86-64 (64-bit, big-endian), this program runs on x86-64 "
		"(64-bit, little-endian); export the module for this machine, or inspect it only");
	tenon_buffer_fini(&b);
	i.big = i.wide = false;
	b = image_of(&i);
	assert_unloadable(
		&b, -TENON_E_FORMAT,
		"made for x86-64 (32-bit, little-endian), this program runs on x86-64 "
		"(64-bit, little-endian); export the module for this machine, or inspect it only");
	tenon_buffer_fini(&b);
}

static void a_library_that_is_missing_is_named(void **state)
{
	static const char *const names[] = { "f", "libno-such-library.so.7", NULL };
	struct image i = { .wide = true, .machine = 62, .names = names };
	struct tenon_buffer b = image_of(&i);
	const char *path = scratch_file("needs.so");
	char want[2200];

	(void)state;
	/* in place of the string table's size, which then is that of the segment */
	b.data[IMAGE_DYNAMIC + 64] = 1;
	b.data[IMAGE_DYNAMIC + 72] = 3;
	write_scratch(path, slice_of(&b));
	assert_int_equal(elf_check_loadable(path), -TENON_E_NOT_FOUND);
	snprintf(want, sizeof(want),
		 "%s: needs the library libno-such-library.so.7, which cannot be loaded (", path);
	assert_error_has(want);
	unlink(path);
	tenon_buffer_fini(&b);
}

static void a_program_is_no_module(void **state)
{
	(void)state;
	assert_int_equal(elf_check_loadable("/proc/self/exe"), -TENON_E_FORMAT);
	assert_error_has("/proc/self/exe: a program, want a module");
}

static void nothing_is_wrong_with_a_library_that_loads(void **state)
{
	Dl_info info;

	(void)state;

	assert_int_equal(elf_check_loadable(data_file("tvm-0.18/host_vecadd/lib.so")), 0);
	/* one that needs others, which are there */
	assert_int_not_equal(dladdr((void *)(uintptr_t)_cmocka_run_group_tests, &info), 0);
	if (strstr(info.dli_fname, "cmocka.so"))
		assert_int_equal(elf_check_loadable(info.dli_fname), 0);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_of_any_machine_are_found),
		cmocka_unit_test(machines_have_names),
		cmocka_unit_test(what_is_not_elf_is_called_by_its_name),
		cmocka_unit_test(networks_and_weights_are_recognised),
		cmocka_unit_test(archives_are_recognised_by_their_members),
		cmocka_unit_test(zip_archives_are_recognised_by_their_members),
		cmocka_unit_test(a_file_cut_anywhere_is_refused_or_read_within_its_bytes),
		cmocka_unit_test(any_changed_byte_is_survived),
		cmocka_unit_test(a_segment_behind_the_end_is_named),
		cmocka_unit_test(a_name_without_an_end_is_none),
		cmocka_unit_test(a_symbol_without_bytes_in_the_file_is_named),
		cmocka_unit_test(a_hash_table_at_the_end_of_its_segment_has_no_symbols),
		cmocka_unit_test(an_object_file_has_symbols_too),
		cmocka_unit_test(a_section_is_found_by_its_name),
#if defined(__x86_64__)
		cmocka_unit_test(what_cannot_be_loaded_here_is_said_why),
		cmocka_unit_test(a_library_that_is_missing_is_named),
		cmocka_unit_test(a_program_is_no_module),
		cmocka_unit_test(nothing_is_wrong_with_a_library_that_loads),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
