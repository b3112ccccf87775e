/* SPDX-License-Identifier: MIT */
/* Read the secret, make nonces, and compute and compare proofs. */
#include "rpc/wire/auth.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <tenon/error.h>
#include <unistd.h>

#ifdef CONFIG_MBEDTLS
#include <mbedtls/md.h>
#endif

#include "lib/brief_errors.h"
#include "lib/file_secret.h"

/* longest key in a proof, as in a handshake */
#define KEY_MOST 4096

bool auth_nonce(uint8_t nonce[AUTH_NONCE])
{
	return getrandom(nonce, AUTH_NONCE, 0) == AUTH_NONCE;
}

bool auth_equal(const uint8_t a[AUTH_PROOF], const uint8_t b[AUTH_PROOF])
{
	volatile uint8_t different = 0;
	int i;

	for (i = 0; i < AUTH_PROOF; i++)
		different |= a[i] ^ b[i];
	return !different;
}

void auth_print(const uint8_t bytes[AUTH_NONCE], char text[AUTH_TEXT])
{
	int i;

	for (i = 0; i < AUTH_NONCE; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool auth_parse(const char *text, uint8_t bytes[AUTH_NONCE])
{
	int i;

	if (strlen(text) != AUTH_TEXT - 1)
		return false;
	for (i = 0; i < AUTH_NONCE; i++) {
		int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		bytes[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

#ifdef CONFIG_MBEDTLS

int auth_secret_read(const char *path, struct auth_secret *out)
{
	uint8_t bytes[AUTH_SECRET_MOST + 2];
	int fd, err = file_secret_open(path, "secret", &fd);
	ssize_t size;

	out->size = 0;
	if (err)
		return err;
	size = read(fd, bytes, sizeof(bytes));
	close(fd);
	if (size < 0)
		return tenon_error(-TENON_E_IO, "%s: %s", path, strerror(errno));
	while (size && (bytes[size - 1] == '\n' || bytes[size - 1] == '\r'))
		size--;
	if (size < AUTH_SECRET_LEAST || size > AUTH_SECRET_MOST)
		return tenon_error(-TENON_E_VALUE,
				   "%s: the secret has %zd bytes, %d to %d are possible. \"openssl "
				   "rand -hex 32\" makes one",
				   path, size, AUTH_SECRET_LEAST, AUTH_SECRET_MOST);
	memcpy(out->bytes, bytes, (size_t)size);
	out->size = (size_t)size;
	return 0;
}

int auth_proof(const struct auth_secret *secret, enum auth_role role,
	       const uint8_t client[AUTH_NONCE], const uint8_t server[AUTH_NONCE], const char *key,
	       uint8_t proof[AUTH_PROOF])
{
	/* both of the same length: what is signed cannot be split in two ways */
	const char *name = role == AUTH_CLIENT ? "tenon rpc client" : "tenon rpc server";
	uint8_t text[16 + 2 * AUTH_NONCE + KEY_MOST];
	size_t size = strlen(key);

	if (size > KEY_MOST)
		return tenon_error(-TENON_E_VALUE, "the key has %zu bytes", size);
	memcpy(text, name, 16);
	memcpy(text + 16, client, AUTH_NONCE);
	memcpy(text + 16 + AUTH_NONCE, server, AUTH_NONCE);
	memcpy(text + 16 + 2 * AUTH_NONCE, key, size);
	if (mbedtls_md_hmac(mbedtls_md_info_from_type(MBEDTLS_MD_SHA256), secret->bytes,
			    secret->size, text, 16 + 2 * AUTH_NONCE + size, proof))
		return tenon_error(-TENON_E_UNSUPPORTED, "mbedtls has no HMAC with SHA-256");
	return 0;
}

#else

int auth_secret_read(const char *path, struct auth_secret *out)
{
	out->size = 0;
	return tenon_error(-TENON_E_UNSUPPORTED, "%s: secrets need a build with CONFIG_MBEDTLS",
			   path);
}

int auth_proof(const struct auth_secret *secret, enum auth_role role,
	       const uint8_t client[AUTH_NONCE], const uint8_t server[AUTH_NONCE], const char *key,
	       uint8_t proof[AUTH_PROOF])
{
	return tenon_error(-TENON_E_UNSUPPORTED, "no CONFIG_MBEDTLS");
}

#endif
