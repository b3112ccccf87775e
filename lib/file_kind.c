/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "lib/file_kind.h"

#define TAR_BLOCK 512
#define TAR_NAME  100
#define TAR_SIZE  124
#define TAR_MAGIC 257

static const struct {
	uint8_t size;
	char bytes[9];
	const char *what;
} magics[] = {
	{ 4,
	  "\x7f"
	  "ELF",
	  "an ELF file" },
	{ 8, "!<arch>\n", "a static archive of object files (.a)" },
	{ 4, "PK\x03\x04", "a zip archive" },
	{ 2, "\x1f\x8b", "a gzip archive" },
	{ 6,
	  "\xfd"
	  "7zXZ",
	  "an xz archive" },
	{ 4, "\x28\xb5\x2f\xfd", "a zstd archive" },
	{ 2, "MZ", "a Windows library (PE)" },
	{ 4, "\xcf\xfa\xed\xfe", "a macOS library (Mach-O, 64-bit)" },
	{ 4, "\xce\xfa\xed\xfe", "a macOS library (Mach-O, 32-bit)" },
	{ 4, "\xca\xfe\xba\xbe", "a macOS library (Mach-O, several machines)" },
	{ 4, "BC\xc0\xde", "LLVM bitcode" },
	{ 6, "\x93NUMPY", "a NumPy array" },
	{ 8, "\xb7\x9c\x04\x05\x4f\x8d\xe5\xf7", "TVM parameters (.params)" },
	{ 4, "\x03\x02\x23\x07", "a SPIR-V program" },
	{ 2, "#!", "a script" },
};

static bool is_tar(struct tenon_slice bytes)
{
	return bytes.size >= TAR_BLOCK && !memcmp(bytes.data + TAR_MAGIC, "ustar", 5);
}

static bool is_text(struct tenon_slice bytes)
{
	size_t i, n = bytes.size < 512 ? bytes.size : 512;

	for (i = 0; i < n; i++) {
		unsigned char c = (unsigned char)bytes.data[i];

		if (c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f')
			return false;
	}
	return true;
}

const char *file_kind(struct tenon_slice bytes)
{
	size_t i;

	if (!bytes.size)
		return "an empty file";
	for (i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
		if (bytes.size >= magics[i].size &&
		    !memcmp(bytes.data, magics[i].bytes, magics[i].size))
			return magics[i].what;
	}
	if (is_tar(bytes))
		return "a tar archive";
	if (is_text(bytes))
		return bytes.data[0] == '{' ? "JSON text" : "text";
	return "unknown bytes";
}

static uint64_t tar_size(const char *header)
{
	uint64_t size = 0;
	int i;

	for (i = 0; i < 11; i++) {
		char c = header[TAR_SIZE + i];

		if (c < '0' || c > '7')
			break;
		size = size * 8 + (uint64_t)(c - '0');
	}
	return size;
}

static bool tar_has(struct tenon_slice bytes, const char *name)
{
	size_t length = strlen(name);

	while (is_tar(bytes)) {
		const char *member = bytes.data;
		uint64_t size = tar_size(member);

		if (!memcmp(member, "./", 2))
			member += 2;
		if (!strncmp(member, name, TAR_NAME - 2) && length < TAR_NAME - 2)
			return true;
		size = TAR_BLOCK + (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
		if (size > bytes.size)
			return false;
		bytes.data += size;
		bytes.size -= (size_t)size;
	}
	return false;
}

const char *file_advice(struct tenon_slice bytes)
{
	if (file_is_elf(bytes))
		return "; it is an ELF file: give it the extension .so";
	if (tar_has(bytes, "metadata.json"))
		return "; it is a Model Library Format archive: unpack it and link the code in "
		       "codegen/host with cc -shared";
	if (tar_has(bytes, "lib0.o") || tar_has(bytes, "devc.o"))
		return "; it is an archive of object files: link them with cc -shared";
	if (tar_has(bytes, "lib0.c") || tar_has(bytes, "devc.c"))
		return "; it is an archive of C files: compile them with cc -shared";
	return "";
}
