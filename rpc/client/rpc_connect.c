/* SPDX-License-Identifier: MIT */
/* How a session begins: keys, InitServer, the server's generation. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "lib/number.h"
#include "rpc/client/rpc.h"
#include "rpc/wire/auth.h"
#include "rpc/wire/handshake.h"
#include "rpc/wire/wire_codes.h"

/* longest words behind a key, and "client:" */
#define WORDS_MOST 160

/**
 * struct greeting - the handshake while it goes on
 * @options: options of tenon_remote_connect()
 * @secret: to be proved by both sides; a size of 0 for none
 * @nonce: this client's part of the proof
 */
struct greeting {
	const struct tenon_remote_options *options;
	struct auth_secret secret;
	uint8_t nonce[AUTH_NONCE];
};

/* "client:KEY -timeout=1.500 -auth=NONCE -tenon=1" */
static int client_key(const struct rpc *r, const struct greeting *g, struct tenon_buffer *out)
{
	char nonce[AUTH_TEXT], number[NUMBER_ROOM];

	if (strpbrk(r->key, " \t\r\n\v\f") || strlen(r->key) > HANDSHAKE_KEY_MOST - WORDS_MOST)
		return tenon_error(-TENON_E_VALUE, "a key has no spaces and at most %d bytes",
				   HANDSHAKE_KEY_MOST - WORDS_MOST);
	tenon_buffer_printf(out, "client:%s", r->key);
	if (g->options->session_ms)
		tenon_buffer_printf(out, " -timeout=%s",
				    number_print(number, 9, g->options->session_ms / 1000.0));
	if (g->secret.size) {
		auth_print(g->nonce, nonce);
		tenon_buffer_printf(out, " -auth=%s", nonce);
	}
	if (!g->options->wait_each)
		tenon_buffer_printf(out, " %s", HANDSHAKE_EXTENSION);
	return out->status;
}

static int send_key(struct rpc *r, const struct greeting *g)
{
	struct tenon_buffer key = TENON_BUFFER_INIT, all = TENON_BUFFER_INIT;
	struct iovec part;
	int err = client_key(r, g, &key);

	tenon_buffer_u32(&all, HANDSHAKE_MAGIC);
	tenon_buffer_u32(&all, (uint32_t)key.size);
	tenon_buffer_append(&all, key.data, key.size);
	if (!err)
		err = all.status;
	part = (struct iovec){ all.data, all.size };
	if (!err)
		err = connection_write(r->connection, &part, 1);
	tenon_buffer_fini(&key);
	tenon_buffer_fini(&all);
	return err;
}

static int read_number(struct rpc *r, uint32_t *out)
{
	uint8_t b[4];
	int err = stream_read(&r->stream, b, sizeof(b));

	*out = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
	return err;
}

static int refused(const struct rpc *r, uint32_t code)
{
	if (code == HANDSHAKE_MISMATCH)
		return tenon_error(-TENON_E_IO,
				   "%s has another key than \"%s\", or asks for a secret",
				   r->address, r->key);
	if (code == HANDSHAKE_DUPLICATE)
		return tenon_error(-TENON_E_IO, "%s has a client with the key \"%s\" already",
				   r->address, r->key);
	return tenon_error(-TENON_E_FORMAT,
			   "%s is no RPC server: it answered 0x%" PRIx32 ", expected 0x%x",
			   r->address, code, HANDSHAKE_MAGIC);
}

/* Does the server's key, "server:KEY", have the word of the extension behind it? */
static void read_extension(struct rpc *r)
{
	char *word = strstr(r->server, " " HANDSHAKE_EXTENSION);

	if (!word || word[1 + strlen(HANDSHAKE_EXTENSION)])
		return;
	*word = '\0';
	r->pipelined = true;
}

static int read_key(struct rpc *r)
{
	uint32_t size = 0;
	int err = read_number(r, &size);

	if (err)
		return err;
	if (size > HANDSHAKE_KEY_MOST)
		return tenon_error(-TENON_E_FORMAT, "%s: a key of %" PRIu32 " bytes, at most %d",
				   r->address, size, HANDSHAKE_KEY_MOST);
	free(r->server);
	r->server = calloc(1, size + 1);
	if (!r->server)
		return tenon_error(-TENON_E_NOMEM, "no memory for a key");
	return stream_read(&r->stream, r->server, size);
}

/* ---- the secret (auth.h) */

static int no_proof(const struct rpc *r)
{
	return tenon_error(-TENON_E_IO,
			   "%s does not prove that it knows the secret: it serves without one, or "
			   "cannot (tenon rpc serve --secret-file)",
			   r->address);
}

static int send_proof(struct rpc *r, const struct greeting *g, const uint8_t server[AUTH_NONCE])
{
	uint8_t proof[AUTH_PROOF];
	struct iovec part = { proof, sizeof(proof) };
	int err = auth_proof(&g->secret, AUTH_CLIENT, g->nonce, server, r->key, proof);

	return err ? err : connection_write(r->connection, &part, 1);
}

/* Take " -proof=HMAC" out of the server's key, and check it. */
static int check_proof(struct rpc *r, const struct greeting *g, const uint8_t server[AUTH_NONCE])
{
	uint8_t wanted[AUTH_PROOF], got[AUTH_PROOF];
	char *word = strstr(r->server, AUTH_PROOF_WORD), *end;
	char text[AUTH_TEXT];
	int err = auth_proof(&g->secret, AUTH_SERVER, g->nonce, server, r->key, wanted);

	if (err)
		return err;
	if (!word)
		return no_proof(r);
	end = word + strlen(AUTH_PROOF_WORD);
	snprintf(text, sizeof(text), "%s", end);
	if (!auth_parse(text, got) || !auth_equal(got, wanted))
		return tenon_error(-TENON_E_IO, "%s does not know the secret", r->address);
	end += AUTH_TEXT - 1;
	memmove(word, end, strlen(end) + 1);
	return 0;
}

/* What comes behind the server's challenge. */
static int prove(struct rpc *r, const struct greeting *g)
{
	uint8_t server[AUTH_NONCE];
	uint32_t code = 0;
	int err = stream_read(&r->stream, server, sizeof(server));

	if (!err)
		err = send_proof(r, g, server);
	if (!err)
		err = read_number(r, &code);
	if (err)
		return err;
	if (code == HANDSHAKE_MISMATCH)
		return tenon_error(-TENON_E_IO, "%s has another secret", r->address);
	if (code != HANDSHAKE_MAGIC)
		return refused(r, code);
	err = read_key(r);
	return err ? err : check_proof(r, g, server);
}

/*
 * Read the challenge. A proxy sends the server's key first and the challenge behind it. A server
 * that wants no proof sends only its key: if it is Tenon's, its extension shows that (a proxy does
 * not send it); with TVM's server, only the time limit does.
 */
static int read_challenge(struct rpc *r, uint32_t *code)
{
	int err = read_key(r);

	if (err)
		return err;
	if (strstr(r->server, " " HANDSHAKE_EXTENSION))
		return no_proof(r);
	err = read_number(r, code);
	if (err != -TENON_E_TIMEOUT)
		return err;
	tenon_error_clear();
	return no_proof(r);
}

static int read_greeting(struct rpc *r, const struct greeting *g)
{
	uint32_t code = 0;
	int err = read_number(r, &code);

	if (!err && g->secret.size && code == HANDSHAKE_MAGIC)
		err = read_challenge(r, &code);
	if (err)
		return err;
	if (g->secret.size && code == AUTH_CHALLENGE)
		err = prove(r, g);
	else if (!g->secret.size && code == HANDSHAKE_MAGIC)
		err = read_key(r);
	else
		return refused(r, code);
	if (!err && !g->options->wait_each)
		read_extension(r);
	return err;
}

/*
 * Detect the encoding by the reply to InitServer, a void, which each writes in another way: nothing
 * else differs. Tenon's servers send an empty sequence and accept both encodings.
 */
static int read_generation(struct rpc *r, struct tenon_slice packet)
{
	struct tenon_cursor c = tenon_cursor_of(packet.data, packet.size, "reply to InitServer", 0);
	uint32_t code = 0, count = 0, value = 0;
	int err = tenon_cursor_u32(&c, &code);

	if (!err && code == PACKET_EXCEPTION)
		return 1;
	if (!err && code != PACKET_RETURN)
		err = tenon_error(-TENON_E_FORMAT, "%s: packet with code %d after InitServer",
				  r->address, (int)code);
	if (!err)
		err = tenon_cursor_u32(&c, &count);
	if (!err && count)
		err = tenon_cursor_u32(&c, &value);
	if (err)
		return err;
	r->generation = WIRE_FFI;
	if (count && value == LEGACY_NULL)
		r->generation = WIRE_LEGACY;
	else if (count && value != TENON_TYPE_NONE)
		return tenon_error(-TENON_E_FORMAT, "%s: InitServer returned a value of type %d",
				   r->address, (int)value);
	return 0;
}

/* The generation of an exception is not known; either shows its text. */
static int raise_early_exception(struct rpc *r, struct tenon_slice packet)
{
	enum wire_generation generation;

	for (generation = WIRE_LEGACY; generation <= WIRE_FFI; generation++) {
		struct tenon_cursor c =
			tenon_cursor_of(packet.data + 4, packet.size - 4, "exception", 0);

		if (!wire_read_sequence(&c, generation, &r->reply) && r->reply.count == 1 &&
		    r->reply.values->kind == WIRE_STRING)
			return tenon_error(-TENON_E_IO, "%s: %.*s", r->address,
					   (int)(r->reply.values->as.text.size & 0xffff),
					   r->reply.values->as.text.data);
	}
	return tenon_error(-TENON_E_FORMAT, "%s refused InitServer", r->address);
}

static int init_server(struct rpc *r)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_slice packet;
	struct iovec part;
	size_t start;
	int err;

	start = packet_begin(&b, PACKET_INIT);
	tenon_buffer_string(&b, (struct tenon_slice){ PACKET_VERSION, strlen(PACKET_VERSION) });
	tenon_buffer_u32(&b, 0);
	packet_end(&b, start, 0);
	part = (struct iovec){ b.data, b.size };
	err = b.status ? b.status : connection_write(r->connection, &part, 1);
	tenon_buffer_fini(&b);
	if (err)
		return err;
	r->requests++;
	r->waits++;
	switch (stream_read_packet(&r->stream, NULL, NULL, &packet)) {
	case STREAM_PACKET:
		err = read_generation(r, packet);
		return err > 0 ? raise_early_exception(r, packet) : err;
	case STREAM_END:
		return tenon_error(-TENON_E_IO, "%s closed the connection", r->address);
	default:
		return tenon_error_status();
	}
}

int rpc_handshake(struct rpc *r, const struct tenon_remote_options *o)
{
	struct greeting g = { .options = o };
	int err = o->secret_file ? auth_secret_read(o->secret_file, &g.secret) : 0;

	if (!err && g.secret.size && !auth_nonce(g.nonce))
		err = tenon_error(-TENON_E_IO, "the kernel has no random numbers");
	if (!err)
		err = send_key(r, &g);
	if (!err)
		err = read_greeting(r, &g);
	explicit_bzero(&g.secret, sizeof(g.secret));
	return err ? err : init_server(r);
}
