/* SPDX-License-Identifier: MIT */
/* Connections until their sessions start: TLS, the key, the proof of the secret. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <tenon/buffer.h>
#include <tenon/error.h>
#include <unistd.h>

#include "lib/clock.h"
#include "rpc/server/relay.h"
#include "rpc/server/server_state.h"
#include "rpc/wire/address.h"

#define HANDSHAKE_MS 10000

static void release_session(struct server *s, struct peer *p)
{
	peer_remove_cgroup(s, p);
	if (p->folder && !server_keep_files(s, p))
		folder_remove(p->folder);
	if (p->mounted >= 0)
		close(p->mounted);
	p->mounted = -1;
	free(p->builds);
	p->builds = NULL;
	free(p->folder);
	p->folder = NULL;
	if (p->watch)
		munmap(p->watch, sizeof(*p->watch));
	p->watch = NULL;
	if (p->slot >= 0)
		registration_release(&s->registration, p->slot);
	p->slot = -1;
}

static bool is_unproven(const struct peer *p)
{
	return p->state == PEER_ACCEPTED || p->state == PEER_HANDSHAKE || p->state == PEER_PROOF;
}

static void close_peer(struct server *s, struct peer *p)
{
	if (p->traffic)
		munmap(p->traffic, sizeof(*p->traffic));
	close(p->fd);
	free(p->handshake);
	free(p->proof);
	free(p->request);
	release_session(s, p);
}

void server_release_session(struct server *s, struct peer *p)
{
	release_session(s, p);
	server_tell_keeping(s);
}

void server_remove_peer(struct server *s, unsigned int i)
{
	close_peer(s, &s->peers[i]);
	s->peers[i] = s->peers[--s->peer_count];
	server_tell_keeping(s);
}

/*
 * Which connection to close first when all places are taken: a client whose session has ended and
 * that has not been told; a client whose handshake or proof is not complete; one that waits for a
 * session; our own connection to a proxy.
 */
static int keep_rank(enum peer_state state)
{
	switch (state) {
	case PEER_ENDED:
		return 0;
	case PEER_ACCEPTED:
	case PEER_HANDSHAKE:
	case PEER_PROOF:
		return 1;
	case PEER_WAITING:
		return 2;
	case PEER_DIALING:
	case PEER_PROXIED:
		return 3;
	case PEER_SESSION:
		break;
	}
	return 4;
}

static bool goes_before(const struct peer *a, const struct peer *b)
{
	const int rank_a = keep_rank(a->state), rank_b = keep_rank(b->state);

	return rank_a != rank_b ? rank_a < rank_b : a->serial < b->serial;
}

/* The eldest connection that has shown nothing, if there are @most of them; with @relays, of those with a relay. */
static struct peer *eldest_unproven(struct server *s, unsigned int most, bool relays)
{
	struct peer *eldest = NULL;
	unsigned int i, count = 0;

	for (i = 0; i < s->peer_count; i++) {
		struct peer *p = &s->peers[i];

		if (!is_unproven(p) || (relays && !p->relay))
			continue;
		count++;
		if (!eldest || p->serial < eldest->serial)
			eldest = p;
	}
	return count >= most ? eldest : NULL;
}

/*
 * Close a connection to make room. The relay of a session that ended in order stops by itself after
 * the last bytes.
 */
static void evict(struct server *s, unsigned int i)
{
	if (s->peers[i].relay)
		kill(s->peers[i].relay, SIGKILL);
	server_remove_peer(s, i);
}

static void make_place(struct server *s)
{
	const struct peer *unproven = eldest_unproven(s, UNPROVEN_MOST, false);
	unsigned int i, first = UINT32_MAX;

	if (unproven)
		evict(s, (unsigned int)(unproven - s->peers));
	if (s->peer_count < s->peer_room)
		return;
	for (i = 0; i < s->peer_count; i++)
		if (s->peers[i].state != PEER_SESSION &&
		    (first == UINT32_MAX || goes_before(&s->peers[i], &s->peers[first])))
			first = i;
	evict(s, first);
}

bool server_add_peer(struct server *s, struct peer *p, uint64_t ms)
{
	p->handshake = calloc(1, sizeof(*p->handshake));
	if (!p->handshake) {
		close(p->fd);
		return false;
	}
	/* notice a client whose machine vanished */
	address_keep_alive(p->fd, 60, 6);
	p->serial = ++s->serial;
	p->deadline = clock_ms() + ms;
	make_place(s);
	s->peers[s->peer_count++] = *p;
	return true;
}

/* ---- accepting */

/* In a relay. */
static void forget(void *context)
{
	server_forget(context, -1);
}

bool server_start_relay(struct server *s, struct peer *p, struct relay_ends ends,
			const struct tls_server *tls)
{
	void *shared = mmap(NULL, sizeof(*p->traffic), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	if (shared == MAP_FAILED)
		return false;
	pid = relay_start(ends, tls, shared, forget, s, &p->fd);
	if (pid < 0) {
		munmap(shared, sizeof(*p->traffic));
		return false;
	}
	p->relay = pid;
	p->traffic = shared;
	fcntl(p->fd, F_SETFL, O_NONBLOCK);
	return true;
}

static bool is_tcp(int fd)
{
	int domain = AF_UNIX;
	socklen_t size = sizeof(domain);

	getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size);
	return domain != AF_UNIX;
}

/* End the relay of a connection, whose peer is removed when its deadline is looked at. */
static void expire(struct peer *p)
{
	kill(p->relay, SIGKILL);
	p->relay = 0;
	p->deadline = 1;
}

/* The first byte came: a connection that says nothing costs no process. */
static bool begin_relay(struct server *s, struct peer *p)
{
	struct peer begun = *p, *eldest = eldest_unproven(s, UNPROVEN_RELAYS_MOST, true);
	char byte;

	if (recv(p->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 1)
		return false;
	if (eldest)
		expire(eldest);
	if (!server_start_relay(s, &begun, (struct relay_ends){ p->fd, p->fd },
				is_tcp(p->fd) ? s->tls : NULL))
		return false;
	begun.state = PEER_HANDSHAKE;
	*p = begun;
	return true;
}

/*
 * A relay decrypts. It also records when bytes pass a Unix socket, which the kernel does not
 * report: the time of a request counts from there (peer_usage.c).
 */
enum peer_state server_first_state(const struct server *s, int fd)
{
	const bool relay = is_tcp(fd) ? s->tls != NULL : s->options.request_ms != 0;

	return relay ? PEER_ACCEPTED : PEER_HANDSHAKE;
}

void server_accept(struct server *s, const struct listener *listener)
{
	struct peer p = { PEER_NONE };

	p.fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (p.fd < 0)
		return;
	/* before a relay: its other end is a Unix socket of our own */
	if (!s->options.trust_network && !unix_peer_allowed(&s->allowed, p.fd)) {
		close(p.fd);
		return;
	}
	p.state = server_first_state(s, p.fd);
	server_add_peer(s, &p, HANDSHAKE_MS);
}

/* ---- the key */

static uint64_t shorter(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

static bool refuse(struct peer *p)
{
	static const uint8_t mismatch[4] = { 0x73, 0xf2, 0x0f, 0x00 };

	send(p->fd, mismatch, sizeof(mismatch), MSG_NOSIGNAL | MSG_DONTWAIT);
	return false;
}

static bool is_full(const struct server *s)
{
	unsigned int i, waiting = 0;

	for (i = 0; i < s->peer_count; i++)
		waiting += s->peers[i].state == PEER_WAITING;
	return waiting >= WAITING_MOST;
}

static bool admit(const struct server *s, struct peer *p)
{
	if (is_full(s))
		return false;
	free(p->handshake);
	p->handshake = NULL;
	free(p->proof);
	p->proof = NULL;
	p->state = PEER_WAITING;
	p->deadline = 0;
	return true;
}

static bool send_challenge(struct peer *p, const struct handshake_client *client)
{
	struct peer_proof *proof = calloc(1, sizeof(*proof));
	uint8_t bytes[4 + AUTH_NONCE] = { 0x74, 0xf2, 0x0f, 0x00 };

	if (!proof)
		return false;
	p->proof = proof;
	if (!auth_parse(client->auth, proof->client) || !auth_nonce(proof->server))
		return refuse(p);
	strcpy(proof->key, client->key);
	memcpy(bytes + 4, proof->server, AUTH_NONCE);
	p->state = PEER_PROOF;
	p->deadline = clock_ms() + HANDSHAKE_MS;
	return send(p->fd, bytes, sizeof(bytes), MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(bytes);
}

static bool has_key(const struct server *s, const struct peer *p, const char *key)
{
	if (p->state == PEER_PROXIED)
		return server_proxy_takes(s, key);
	return !strcmp(key, s->options.key);
}

static bool end_handshake(struct server *s, struct peer *p)
{
	struct handshake_client client;

	if (!handshake_parse(p->handshake, &client))
		return refuse(p);
	/* with a tracker, the match key that it handed out; a proxy's clients send the plain key */
	if (s->registered && !p->greeted) {
		p->slot = registration_take(&s->registration, client.key);
		if (p->slot < 0)
			return refuse(p);
	} else if (!has_key(s, p, client.key)) {
		return refuse(p);
	}
	p->extension = client.extension;
	p->limit_ms = shorter(client.timeout_ms, s->options.session_ms);
	if (!s->secret.size)
		return admit(s, p);
	/* TVM's clients cannot prove anything */
	return client.auth ? send_challenge(p, &client) : refuse(p);
}

/* Read more. Returns 1 when @size bytes are there, 0 when more must come, -1 at the end. */
static int read_more(int fd, uint8_t *bytes, size_t *have, size_t size)
{
	ssize_t n;

	while (*have < size) {
		n = recv(fd, bytes + *have, size - *have, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return 0;
		if (n <= 0)
			return -1;
		*have += (size_t)n;
	}
	return 1;
}

/* Read more of a handshake. Returns false when the peer must be closed. */
static bool read_handshake(struct server *s, struct peer *p)
{
	struct handshake *h = p->handshake;
	int missing, result;

	while ((missing = handshake_missing(h)) > 0) {
		result = read_more(p->fd, h->bytes, &h->size, h->size + (size_t)missing);
		if (!result)
			return true;
		if (result < 0) {
			missing = -1;
			break;
		}
	}
	if (missing < 0 && p->state == PEER_PROXIED)
		server_proxy_refused(s, h);
	return !missing && end_handshake(s, p);
}

/* ---- the secret */

static bool read_proof(struct server *s, struct peer *p)
{
	struct peer_proof *proof = p->proof;
	const struct auth_secret *secret = &s->secret;
	uint8_t want[AUTH_PROOF];
	int result = read_more(p->fd, proof->bytes, &proof->size, AUTH_PROOF);

	if (result <= 0)
		return !result;
	if (auth_proof(secret, AUTH_CLIENT, proof->client, proof->server, proof->key, want) ||
	    !auth_equal(want, proof->bytes)) {
		tenon_error_clear();
		server_say(s, "a client with a wrong secret was refused");
		return refuse(p);
	}
	if (auth_proof(secret, AUTH_SERVER, proof->client, proof->server, proof->key, want)) {
		tenon_error_clear();
		return refuse(p);
	}
	strcpy(p->suffix, AUTH_PROOF_WORD);
	auth_print(want, p->suffix + strlen(p->suffix));
	return admit(s, p);
}

bool server_admit(struct server *s, struct peer *p, short events)
{
	switch (p->state) {
	case PEER_DIALING:
		return server_proxy_dialled(s, p);
	case PEER_ACCEPTED:
		return begin_relay(s, p);
	case PEER_PROXIED:
	case PEER_HANDSHAKE:
		return read_handshake(s, p);
	case PEER_PROOF:
		return read_proof(s, p);
	case PEER_WAITING:
		return !(events & (POLLRDHUP | POLLHUP | POLLERR));
	case PEER_ENDED:
		return peer_answer_ended(p);
	case PEER_SESSION:
		break;
	}
	return true;
}
