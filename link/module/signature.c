/* SPDX-License-Identifier: MIT */
/* Sign and check by mbedtls. */
#include "link/module/signature.h"

#include <errno.h>
#include <mbedtls/ctr_drbg.h>
#include <mbedtls/entropy.h>
#include <mbedtls/error.h>
#include <mbedtls/md.h>
#include <mbedtls/pk.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "lib/file_secret.h"
#include "lib/private_key.h"

/* RSA below this is not safe */
#define RSA_BITS_LEAST 2048

#define HASH_SIZE 32

/**
 * struct signature_work - what mbedtls needs for a signature
 * @entropy: seeds @random
 * @random: hides the private key from measurements of time
 * @key: public or private
 */
struct signature_work {
	mbedtls_entropy_context entropy;
	mbedtls_ctr_drbg_context random;
	mbedtls_pk_context key;
};

/*
 * mbedtls reports that memory ran out by several codes, and by none where it goes on to try another form of a key.
 * errno tells: each function below sets it to 0 before it calls mbedtls.
 */
static bool lacks_memory(void)
{
	return errno == ENOMEM;
}

static int fail(int status, const char *what, int error)
{
	char text[160] = "";

	if (lacks_memory())
		return tenon_error(-TENON_E_NOMEM, "%s: out of memory", what);
	mbedtls_strerror(error, text, sizeof(text));
	return tenon_error(status, "%s: %s", what, text);
}

static int key_error(const char *path, const char *what, int error)
{
	char text[160] = "";

	if (lacks_memory())
		return tenon_error(-TENON_E_NOMEM, "%s: out of memory", path);
	mbedtls_strerror(error, text, sizeof(text));
	return tenon_error(-TENON_E_VALUE, "%s: want a %s in PEM or DER: %s", path, what, text);
}

/* Allocated: the state of mbedtls's entropy alone may take 40 KiB, too much for a small stack. */
static int work_create(struct signature_work **out)
{
	struct signature_work *w = malloc(sizeof(*w));
	int error;

	*out = w;
	if (!w)
		return tenon_error(-TENON_E_NOMEM, "a signature: out of memory");
	mbedtls_entropy_init(&w->entropy);
	mbedtls_ctr_drbg_init(&w->random);
	mbedtls_pk_init(&w->key);
	errno = 0;
	error = mbedtls_ctr_drbg_seed(&w->random, mbedtls_entropy_func, &w->entropy, NULL, 0);
	return error ? fail(-TENON_E_IO, "no random numbers", error) : 0;
}

static void work_free(struct signature_work *w)
{
	if (!w)
		return;
	mbedtls_pk_free(&w->key);
	mbedtls_ctr_drbg_free(&w->random);
	mbedtls_entropy_free(&w->entropy);
	free(w);
}

static int check_key(const struct signature_work *w, const char *path)
{
	if (!mbedtls_pk_can_do(&w->key, MBEDTLS_PK_RSA))
		return mbedtls_pk_can_do(&w->key, MBEDTLS_PK_ECDSA)
			       ? 0
			       : tenon_error(-TENON_E_VALUE,
					     "%s: want a key for RSA or ECDSA, found one for %s",
					     path, mbedtls_pk_get_name(&w->key));
	if (mbedtls_pk_get_bitlen(&w->key) >= RSA_BITS_LEAST)
		return 0;
	return tenon_error(-TENON_E_VALUE, "%s: an RSA key of %zu bits; want %d or more", path,
			   mbedtls_pk_get_bitlen(&w->key), RSA_BITS_LEAST);
}

static int read_private(struct signature_work *w, const char *path)
{
	struct stat st;
	char *bytes;
	size_t size;
	int error, err = file_secret_read_any(path, "key", FILE_SECRET_MOST, &st, &bytes, &size);

	if (!err) {
		errno = 0;
		error = private_key_parse(&w->key, &w->random, bytes, size);
		err = error ? key_error(path, "private key without a passphrase", error) : 0;
	}
	file_secret_free(bytes, size);
	/* a public key, which is no secret, was refused above */
	err = err ? err : file_secret_check(&st, path, "key");
	return err ? err : check_key(w, path);
}

static int read_public(struct signature_work *w, const char *path)
{
	struct stat st;
	char *bytes;
	size_t size;
	int error, err = file_secret_read_any(path, "key", FILE_SECRET_MOST, &st, &bytes, &size);

	if (!err) {
		errno = 0;
		error = mbedtls_pk_parse_public_key(&w->key, (const unsigned char *)bytes,
						    pem_size(bytes, size));
		err = error ? key_error(path, "public key", error) : 0;
	}
	free(bytes);
	return err ? err : check_key(w, path);
}

static int hash_of(struct tenon_slice bytes, unsigned char hash[HASH_SIZE])
{
	const mbedtls_md_info_t *sha256 = mbedtls_md_info_from_type(MBEDTLS_MD_SHA256);
	int error;

	errno = 0;
	error = mbedtls_md(sha256, (const unsigned char *)(bytes.data ? bytes.data : ""),
			   bytes.size, hash);
	return error ? fail(-TENON_E_UNSUPPORTED, "SHA-256", error) : 0;
}

static int sign(struct signature_work *w, const unsigned char *hash, struct tenon_buffer *out)
{
	unsigned char bytes[MBEDTLS_PK_SIGNATURE_MAX_SIZE];
	size_t size;
	int error;

	errno = 0;
#if MBEDTLS_VERSION_MAJOR >= 3
	error = mbedtls_pk_sign(&w->key, MBEDTLS_MD_SHA256, hash, HASH_SIZE, bytes, sizeof(bytes),
				&size, mbedtls_ctr_drbg_random, &w->random);
#else
	error = mbedtls_pk_sign(&w->key, MBEDTLS_MD_SHA256, hash, HASH_SIZE, bytes, &size,
				mbedtls_ctr_drbg_random, &w->random);
#endif
	if (error)
		return fail(-TENON_E_VALUE, "the key cannot sign", error);
	return tenon_buffer_append(out, bytes, size);
}

int signature_make(const char *key, struct tenon_slice bytes, struct tenon_buffer *out)
{
	unsigned char hash[HASH_SIZE];
	struct signature_work *w;
	int err;

	err = work_create(&w);
	err = err ? err : read_private(w, key);
	err = err ? err : hash_of(bytes, hash);
	err = err ? err : sign(w, hash, out);
	work_free(w);
	return err;
}

static int check(struct signature_work *w, const unsigned char *hash, struct tenon_slice signature,
		 bool *valid)
{
	errno = 0;
	*valid = !mbedtls_pk_verify(&w->key, MBEDTLS_MD_SHA256, hash, HASH_SIZE,
				    (const unsigned char *)signature.data, signature.size);
	if (!*valid && lacks_memory())
		return tenon_error(-TENON_E_NOMEM, "checking the signature: out of memory");
	return 0;
}

int signature_check(const char *key, struct tenon_slice bytes, struct tenon_slice signature,
		    bool *valid)
{
	unsigned char hash[HASH_SIZE];
	struct signature_work *w;
	int err;

	*valid = false;
	err = work_create(&w);
	err = err ? err : read_public(w, key);
	err = err ? err : hash_of(bytes, hash);
	if (!err && signature.size)
		err = check(w, hash, signature, valid);
	work_free(w);
	return err;
}
