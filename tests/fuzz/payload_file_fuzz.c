/* SPDX-License-Identifier: MIT */
/* The first byte chooses a suffix of the files of backends, the others are such a file, or the payload of its kind. */
#include "tests/unit/blob.h"

#include <tenon/backend/buffer.h>
#include <tenon/uapi/bitstream.h>

#include "driver/fpga/fpga_bitstream.h"
#include "lib/file_map.h"
#include "runtime/payload/payload_format.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/scratch.h"

/* an executable of 64 bytes an operation, and lists that double */
const size_t fuzz_memory_per_byte = 256;
const size_t fuzz_memory_at_all = 1 << 20;

struct search {
	size_t left;	    /* suffixes to skip; of number(): those before it */
	const char *suffix; /* that number() looks for */
	const struct tenon_payload_format *format;
	const struct tenon_payload_file *file;
};

static int find(void *context, const struct tenon_payload_format *format)
{
	const struct tenon_payload_file *file = PAYLOAD_SLOT(format, files);
	struct search *s = context;

	for (; file && file->suffix; file++) {
		if (s->left--)
			continue;
		s->format = format;
		s->file = file;
		return 1;
	}
	return 0;
}

static void add_bitstream(struct tenon_buffer *b)
{
	struct tenon_bitstream_header h = { .magic = TENON_BITSTREAM_MAGIC,
					    .major = TENON_BITSTREAM_MAJOR,
					    .size = 4,
					    .part = "LFE5U-85F",
					    .loader = FPGA_LOADER,
					    .region = "region0",
					    .firmware = "npu.bit.bin" };

	tenon_buffer_append(b, &h, sizeof(h));
	tenon_buffer_append(b, "bits", 4);
}

static int number(void *context, const struct tenon_payload_format *format)
{
	const struct tenon_payload_file *file = PAYLOAD_SLOT(format, files);
	struct search *s = context;

	for (; file && file->suffix; file++, s->left++)
		if (!strcmp(file->suffix, s->suffix))
			return 1;
	return 0;
}

static const char *const kernel = "kernel";

/* a seed with the byte that chooses its suffix */
static void give(void (*visit)(void *context, const char *name, struct tenon_slice bytes),
		 void *context, const char *suffix, struct tenon_buffer *file)
{
	struct search s = { .suffix = suffix };
	struct tenon_buffer b = TENON_BUFFER_INIT;

	payload_format_each(true, number, &s);
	tenon_buffer_u8(&b, (uint8_t)s.left);
	tenon_buffer_append(&b, file->data, file->size);
	visit(context, suffix, slice_of(&b));
	tenon_buffer_fini(&b);
	tenon_buffer_fini(file);
}

static void add_null(struct tenon_buffer *b)
{
	put_string(b, "null");
	put_kernels(b, &kernel, 1, true);
	tenon_buffer_u64(b, 1);
	tenon_buffer_u32(b, 0);
}

/* the head of a program */
static void add_spirv(struct tenon_buffer *b)
{
	static const uint32_t head[] = { 0x07230203, 0x00010000, 0, 1, 0 };

	tenon_buffer_append(b, head, sizeof(head));
}

static void add_stream(struct tenon_buffer *b)
{
	put_string(b, "rocket");
	put_kernels(b, &kernel, 1, true);
	tenon_buffer_append(b, "a stream of commands, which is none", 35);
}

static void add_source(struct tenon_buffer *b)
{
	tenon_buffer_append(b, "__kernel void kernel_0() {}", 27);
}

static void add_file(struct tenon_buffer *b, const char *path)
{
	struct tenon_slice bytes;

	if (file_map_open(path, &bytes))
		abort();
	tenon_buffer_append(b, bytes.data, bytes.size);
	file_map_close(&bytes);
}

static void add_code(struct tenon_buffer *b)
{
	add_file(b, "tests/hexagon/recorded/operators.mortise");
}

/* an archive of torq-compile */
static void add_network(struct tenon_buffer *b)
{
	add_file(b, "tests/torq/data/add/add.vmfb");
}

/* the same image in an archive, as ar writes it */
static void add_archive(struct tenon_buffer *b)
{
	struct tenon_buffer image = TENON_BUFFER_INIT;

	add_code(&image);
	tenon_buffer_printf(b, "!<arch>\n%-16s%-12d%-6d%-6d%-8o%-10zu`\n", "a.elf/", 0, 0, 0, 0644,
			    image.size);
	tenon_buffer_append(b, image.data, image.size);
	tenon_buffer_fini(&image);
}

void fuzz_seeds(void (*visit)(void *context, const char *name, struct tenon_slice bytes),
		void *context)
{
	static const struct {
		const char *suffix;
		void (*add)(struct tenon_buffer *b);
	} seeds[] = { { "bitstream", add_bitstream }, { "null", add_null },
		      { "spv", add_spirv },	      { "rocket", add_stream },
		      { "cl", add_source },	      { "ptx", add_source },
		      { "xclbin", add_source },	      { "mortise", add_code },
		      { "mortise", add_archive },     { "vmfb", add_network } };
	struct tenon_buffer b = TENON_BUFFER_INIT;
	size_t i;

	for (i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		seeds[i].add(&b);
		give(visit, context, seeds[i].suffix, &b);
	}
}

static void read_payload(const struct tenon_payload_format *format, const char *kind,
			 struct tenon_slice bytes)
{
	struct tenon_cursor c = tenon_cursor_of(bytes.data, bytes.size, "payload", 0);
	struct tenon_payload_info info = { .size = sizeof(info), .kind = tenon_slice_of(kind) };

	info.generation = TENON_GENERATION_FFI;
	info.extra_tags = true;
	fuzz_check(payload_read(format, &c, &info));
	payload_info_fini(&info);
}

/* Make the file of bytes as they would lie behind the table of kernels. */
static void unpack(const struct search *s, struct tenon_slice bytes)
{
	int (*own)(const struct tenon_payload_file *, struct tenon_cursor *,
		   struct tenon_buffer *) = PAYLOAD_SLOT(s->format, unpack);
	struct tenon_cursor c = tenon_cursor_of(bytes.data, bytes.size, "fuzz", 0);
	struct tenon_buffer file = TENON_BUFFER_INIT;
	int err = own ? own(s->file, &c, &file) : 0;

	/* without a message: the payload is of no file */
	if (err != -TENON_E_UNSUPPORTED)
		fuzz_check(err);
	tenon_buffer_fini(&file);
}

/* Load a file by its suffix, with a table of its kernels beside it where it needs one. */
static void load(const struct tenon_payload_file *file, struct tenon_slice bytes)
{
	static const char table[] =
		"{\"tvm_version\": \"0.1.0\", \"func_info\": {\"kernel\": {\"name\": "
		"\"kernel\", \"arg_types\": [\"handle\"], \"launch_param_tags\": "
		"[\"threadIdx.x\"]}}}";
	struct tenon_module *m = NULL;
	char name[40];
	int err;

	if (file->table) {
		snprintf(name, sizeof(name), "fuzz.%s", file->table);
		scratch_write(name, table, sizeof(table) - 1);
	}
	snprintf(name, sizeof(name), "fuzz.%s", file->suffix);
	err = tenon_module_load(scratch_write(name, bytes.data, bytes.size), &m);
	fuzz_check(err);
	if (!err)
		fuzz_use_module(m);
}

static void use_file(const struct search *s, struct tenon_slice bytes)
{
	bool (*recognise)(const struct tenon_payload_file *, struct tenon_slice) =
		PAYLOAD_SLOT(s->format, recognise);
	int (*pack)(const struct tenon_payload_file *, struct tenon_cursor *, struct tenon_slice,
		    struct tenon_buffer *) = PAYLOAD_SLOT(s->format, pack);
	struct tenon_cursor c = tenon_cursor_of(bytes.data, bytes.size, "fuzz", 0);
	struct tenon_buffer payload = TENON_BUFFER_INIT, table = TENON_BUFFER_INIT;
	int err = 0;

	if (recognise)
		recognise(s->file, bytes);
	if (s->file->table)
		put_kernels(&table, &kernel, 1, true);
	if (pack)
		err = pack(s->file, &c, slice_of(&table), &payload);
	fuzz_check(err);
	if (pack && !err)
		read_payload(s->format, s->file->kind,
			     (struct tenon_slice){ payload.data, payload.size });
	tenon_buffer_fini(&payload);
	tenon_buffer_fini(&table);
	read_payload(s->format, s->file->kind, bytes);
	unpack(s, bytes);
	load(s->file, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tenon_slice bytes = { (const char *)data + 1, size ? size - 1 : 0 };
	struct tenon_cursor c = tenon_cursor_of(bytes.data, bytes.size, "fuzz", 0);
	struct search s = { .left = size ? data[0] : 0 };
	struct fpga_bitstream bits;

	if (!size || !payload_format_each(true, find, &s))
		return 0;
	if (!strcmp(s.file->suffix, "bitstream"))
		fuzz_check(fpga_bitstream_read(&c, &bits));
	use_file(&s, bytes);
	return 0;
}
