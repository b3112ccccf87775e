/* SPDX-License-Identifier: MIT */
/* Files that the lines of command_test read (command_files.h). */
#include "tests/nomem/command_files.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef CONFIG_NPZ
#include <zip.h>
#endif

#ifdef CONFIG_NPZ
static int make_arrays(const char *folder, const char *array)
{
	char path[300];
	zip_t *zip;
	bool added;

	snprintf(path, sizeof(path), "%s/arrays.npz", folder);
	zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
	if (!zip)
		return 1;
	added = zip_file_add(zip, "a.npy", zip_source_file(zip, array, 0, -1), 0) >= 0;
	return zip_close(zip) || !added;
}
#else
static int make_arrays(const char *folder, const char *array)
{
	return 0;
}
#endif

/* doctor asks emulators for their versions, once for each allocation that fails: let that be quick */
static int make_quick_emulator(const char *folder)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/qemu-system-riscv64", folder);
	return symlink("/bin/true", path) || setenv("PATH", folder, 1);
}

#ifdef CONFIG_MBEDTLS
static int make_keys(const char *folder, const char *module)
{
	char command[1200];

	snprintf(command, sizeof(command),
		 "cd %s && umask 077 && openssl genrsa -out key.pem 2048 2>log && "
		 "openssl rsa -in key.pem -pubout -out public.pem 2>log && "
		 "openssl dgst -sha256 -sign key.pem -out signature \"$OLDPWD\"/%s",
		 folder, module);
	return system(command);
}
#else
static int make_keys(const char *folder, const char *module)
{
	return 0;
}
#endif

#ifdef CONFIG_LLM_TOKENIZER
/* The folder of a model with a tokenizer, whose file has each sort of step. */
static int make_tokenizer(const char *folder)
{
	static const char *const files[] = { "mlc-chat-config.json", "params_shard_0.bin",
					     "params_shard_1.bin", "tensor-cache.json" };
	static const char tokenizer[] =
		"{\"added_tokens\":[{\"id\":2,\"content\":\"<x>\",\"lstrip\":true,\"single_word\":"
		"true,"
		"\"special\":true},{\"id\":3,\"content\":\"ab\",\"normalized\":true,\"special\":"
		"true}],"
		"\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Prepend\","
		"\"prepend\":"
		"\"x\"},{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"b+\"},\"content\":\"\"}]},"
		"\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\","
		"\"pattern\":"
		"{\"String\":\"x\"},\"behavior\":\"MergedWithNext\"},{\"type\":\"Metaspace\"}]},"
		"\"model\":{\"type\":\"BPE\",\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"x\":1,"
		"\"\\u2581\":4,"
		"\"\\u2581x\":5},\"merges\":[\"\\u2581 x\"]}}";
	char path[400], from[PATH_MAX];
	size_t i;
	FILE *f;

	snprintf(path, sizeof(path), "%s/words", folder);
	if (mkdir(path, 0700))
		return 1;
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (!realpath("tests/llm/data/bytes", from))
			return 1;
		snprintf(from + strlen(from), sizeof(from) - strlen(from), "/%s", files[i]);
		snprintf(path, sizeof(path), "%s/words/%s", folder, files[i]);
		if (symlink(from, path))
			return 1;
	}
	snprintf(path, sizeof(path), "%s/words/tokenizer.json", folder);
	f = fopen(path, "w");
	return !f || fputs(tokenizer, f) < 0 || fclose(f);
}
#else
static int make_tokenizer(const char *folder)
{
	return 0;
}
#endif

int command_files_make(const char *folder, const char *array, const char *module)
{
	/* the emulator takes PATH away, which openssl is found by */
	return make_keys(folder, module) || make_quick_emulator(folder) || make_tokenizer(folder) ||
	       make_arrays(folder, array);
}
