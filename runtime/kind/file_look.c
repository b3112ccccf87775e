/* SPDX-License-Identifier: MIT */
/* Recognise files of machine learning by their first bytes or an archive's members. */
#include <string.h>

#include "runtime/core/describer.h"
#include "runtime/kind/file_kind.h"

/* what an ELF file is, in two bytes of either order */
#define ELF_TYPE       16
#define ELF_BIG_ENDIAN 2

#define TAR_BLOCK 512
#define TAR_NAME  100
#define TAR_SIZE  124
#define TAR_MAGIC 257

/* bytes in front of the name in a zip archive: of a member, and of an entry of the directory */
#define ZIP_MEMBER 30
#define ZIP_ENTRY  46

/* bytes of a name in which a part is looked for: what is said to be longer is no header, but the data of a member */
#define ZIP_NAME 512

/* What is to be done with a network that no compiler has compiled, and with weights alone. */
#define SCRIPT	"compile/tenon-compile of Tenon's source"
#define PAGE	" (docs/making-modules.md)"
#define COMPILE "; it is not compiled yet: make a module of it with " SCRIPT PAGE
#define CONVERT                                                                                    \
	"; it is not compiled yet: convert it to ONNX with tf2onnx, and make a module of that "    \
	"with " SCRIPT PAGE
#define EXPORT                                                                                     \
	"export the network in Python with torch.export.save(), and make a module of that "        \
	"with " SCRIPT PAGE
#define WEIGHTS                                                                                    \
	"; it holds weights and no network: compile the network that uses them, a language model " \
	"by its folder with " SCRIPT PAGE                                                          \
	", and give tenon run the module, and this file by --params"
#define LANGUAGE                                                                                   \
	"; it holds a language model that is not compiled yet: make a folder for tenon chat of "   \
	"it with " SCRIPT PAGE "; a module that was compiled for its weights takes it by --params"

#define TORCH_WEIGHTS "weights or objects of PyTorch (.pt)"
#define TORCH_OBJECTS "; it holds no network: " EXPORT

static const struct {
	uint8_t offset;
	uint8_t size;
	char bytes[11];
	const char *what;
	const char *advice;
} magics[] = {
	{ 0, 8, "!<arch>\n", "a static archive of object files (.a)",
	  "; link it into a program, or into a module with cc -shared -Wl,--whole-archive" },
	{ 0, 2, "\x1f\x8b", "a gzip archive", "" },
	{ 0, 6,
	  "\xfd"
	  "7zXZ",
	  "an xz archive", "" },
	{ 0, 4, "\x28\xb5\x2f\xfd", "a zstd archive", "" },
	{ 0, 2, "MZ", "a Windows library (PE)", "" },
	{ 0, 4, "\xcf\xfa\xed\xfe", "a macOS library (Mach-O, 64-bit)", "" },
	{ 0, 4, "\xce\xfa\xed\xfe", "a macOS library (Mach-O, 32-bit)", "" },
	{ 0, 4, "\xca\xfe\xba\xbe", "a macOS library (Mach-O, several machines)", "" },
	{ 0, 4, "BC\xc0\xde", "LLVM bitcode", "" },
	{ 0, 6, "\x93NUMPY", "a NumPy array", "" },
	{ 0, 8, "\xb7\x9c\x04\x05\x4f\x8d\xe5\xf7", "TVM parameters (.params)", "" },
	{ 0, 4, "\x03\x02\x23\x07", "a SPIR-V program", "" },
	{ 0, 4, "GGUF", "weights in GGUF (.gguf)", LANGUAGE },
	{ 0, 10, "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 ", TORCH_WEIGHTS, TORCH_OBJECTS },
	{ 0, 8, "\x89HDF\r\n\x1a\n", "an HDF5 file (.h5), as Keras writes", CONVERT },
	{ 0, 2, "#!", "a script", "" },
};

/* An object file is ELF too, but dlopen() would refuse it under any name. */
static const char *look_at_elf(struct tenon_slice bytes, const char **what)
{
	const bool big = bytes.size > 5 && bytes.data[5] == ELF_BIG_ENDIAN;

	*what = "an object file (.o)";
	if (bytes.size > ELF_TYPE + 1 && bytes.data[ELF_TYPE + big] == ELF_RELOCATABLE &&
	    !bytes.data[ELF_TYPE + !big])
		return "; it is not linked yet: make a module of it with cc -shared";
	*what = "an ELF file";
	return "; it is an ELF file: give it the extension .so";
}

/* A model that Vela compiled contains an operator with the name "ethos-u". */
static const char *look_at_tflite(struct tenon_slice bytes, const char **what)
{
	*what = "a TensorFlow Lite model (.tflite)";
	if (!memmem(bytes.data, bytes.size, "ethos-u", 7))
		return COMPILE;
	*what = "a TensorFlow Lite model that Vela compiled for Ethos-U (.tflite)";
	return "; a build with CONFIG_TFLITE_EXECUTOR and CONFIG_DEVICE_ETHOSU runs it";
}

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

/*
 * A protocol buffer whose first field is a small version, as of ModelProto. ONNX 1.0 has version 3; a network that
 * TensorFlow saved begins in the same way, with version 1.
 */
static bool is_onnx(struct tenon_slice bytes)
{
	static const char second_fields[] = "\x12\x1a\x22\x28\x32\x3a\x42";

	return bytes.size >= 4 && bytes.data[0] == 8 && bytes.data[1] >= 3 && bytes.data[1] <= 32 &&
	       memchr(second_fields, bytes.data[2], sizeof(second_fields) - 1);
}

/* The size of the header in 64 bits, and the header as JSON. */
static bool is_safetensors(struct tenon_slice bytes)
{
	return bytes.size >= 10 && !memcmp(bytes.data + 4, "\0\0\0", 4) &&
	       !memcmp(bytes.data + 8, "{\"", 2);
}

/* Archives, by a part of the name of a member; the first row that fits counts. */
static const struct {
	const char *member;
	const char *what;
	const char *advice;
} archives[] = {
	{ "data/aotinductor/", "a network that PyTorch compiled for itself (.pt2)",
	  "; only PyTorch can run its code: " EXPORT },
	{ "archive_format", "a PyTorch exported program (.pt2)", COMPILE },
	{ "serialized_exported_program", "a PyTorch exported program (.pt2)", COMPILE },
	{ "/constants.pkl", "a TorchScript program (.pt)", "; TVM reads no TorchScript: " EXPORT },
	{ "/data.pkl", TORCH_WEIGHTS, TORCH_OBJECTS },
	{ "model.weights.h5", "a Keras model (.keras)", CONVERT },
	{ ".npy", "NumPy arrays (.npz)",
	  "; it holds arrays and no network: tenon params from-npz makes parameters of them" },
};

/* Each member has a header in front of its data, and one in the directory at the end. */
static bool has_header(struct tenon_slice bytes, const char *member)
{
	const char *at = bytes.data, *end = at + bytes.size;

	for (; (at = memmem(at, (size_t)(end - at), "PK", 2)); at += 2) {
		size_t left = (size_t)(end - at), head = 0, name;

		if (left > ZIP_ENTRY && at[2] == 1 && at[3] == 2)
			head = ZIP_ENTRY;
		else if (left > ZIP_MEMBER && at[2] == 3 && at[3] == 4)
			head = ZIP_MEMBER;
		if (!head)
			continue;
		name = head == ZIP_ENTRY ? 28 : 26;
		name = (size_t)(uint8_t)at[name] | (size_t)(uint8_t)at[name + 1] << 8;
		if (name <= ZIP_NAME && name <= left - head &&
		    memmem(at + head, name, member, strlen(member)))
			return true;
	}
	return false;
}

/* Archives may be large, so only their beginning and their end are looked at. */
static bool has_member(struct tenon_slice bytes, const char *member)
{
	const size_t most = FILE_KIND_HEAD + FILE_KIND_TAIL;
	const size_t tail = bytes.size > most ? FILE_KIND_TAIL : 0;
	const size_t head = tail ? FILE_KIND_HEAD : bytes.size;

	return has_header((struct tenon_slice){ bytes.data, head }, member) ||
	       has_header((struct tenon_slice){ bytes.data + bytes.size - tail, tail }, member);
}

static const char *look_into(struct tenon_slice zip, const char **what)
{
	size_t i;

	for (i = 0; i < sizeof(archives) / sizeof(archives[0]); i++) {
		*what = archives[i].what;
		if (has_member(zip, archives[i].member))
			return archives[i].advice;
	}
	*what = "a zip archive";
	return "";
}

/* Set what the file is, and return what to do with it: "" if that is not known. */
static const char *look_at(struct tenon_slice bytes, const char **what)
{
	size_t i;

	*what = "an empty file";
	if (!bytes.size)
		return "";
	if (bytes.size >= 4 && !memcmp(bytes.data, "PK\x03\x04", 4))
		return look_into(bytes, what);
	if (file_is_elf(bytes))
		return look_at_elf(bytes, what);
	if (bytes.size >= 8 && !memcmp(bytes.data + 4, "TFL3", 4))
		return look_at_tflite(bytes, what);
	for (i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
		*what = magics[i].what;
		if (bytes.size >= (size_t)magics[i].offset + magics[i].size &&
		    !memcmp(bytes.data + magics[i].offset, magics[i].bytes, magics[i].size))
			return magics[i].advice;
	}
	*what = "weights in safetensors (.safetensors)";
	if (is_safetensors(bytes))
		return WEIGHTS;
	*what = "a network that TensorFlow saved (saved_model.pb)";
	if (bytes.size >= 4 && !memcmp(bytes.data, "\x08\x01\x12", 3))
		return CONVERT;
	*what = "an ONNX model (.onnx)";
	if (is_onnx(bytes))
		return COMPILE;
	if (is_tar(bytes))
		*what = "a tar archive";
	else if (!is_text(bytes))
		*what = "unknown bytes";
	else
		*what = bytes.data[0] == '{' ? "JSON text" : "text";
	return "";
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

/* @name: has fewer than TAR_NAME - 2 characters, because its NUL is compared, too */
static bool tar_has(struct tenon_slice bytes, const char *name)
{
	while (is_tar(bytes)) {
		const char *member = bytes.data;
		uint64_t size = tar_size(member);

		if (!memcmp(member, "./", 2))
			member += 2;
		if (!strncmp(member, name, TAR_NAME - 2))
			return true;
		size = TAR_BLOCK + (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
		if (size > bytes.size)
			return false;
		bytes.data += size;
		bytes.size -= (size_t)size;
	}
	return false;
}

int describe_look(struct tenon_slice bytes, const char **what, const char **advice)
{
	*advice = look_at(bytes, what);
	if (tar_has(bytes, "metadata.json"))
		*advice = "; it is a Model Library Format archive: tenon link -o model.so makes a "
			  "module of it";
	else if (tar_has(bytes, "lib0.o") || tar_has(bytes, "devc.o"))
		*advice = "; it is an archive of object files: link them with cc -shared";
	else if (tar_has(bytes, "lib0.c") || tar_has(bytes, "devc.c"))
		*advice = "; it is an archive of C files: compile them with cc -shared";
	return 0;
}
