/* SPDX-License-Identifier: MIT */
#ifndef TENON_RPC_H
#define TENON_RPC_H

/**
 * DOC: servers, trackers and proxies of TVM's RPC
 *
 * What "tenon rpc serve", "tenon rpc tracker" and "tenon rpc proxy" do, for programs. docs/remote.md has the
 * protocol, what a session may do, and what the sandbox needs of the kernel. Clients are in tenon/remote.h.
 *
 *	struct tenon_rpc_server_options o;
 *
 *	tenon_rpc_server_options_init(&o, sizeof(o));
 *	o.listen = (const char *const[]){ "127.0.0.1:9090", NULL };
 *	o.say = print_line;
 *	err = tenon_rpc_serve(&o);
 *
 * Each of the three functions serves until SIGTERM or SIGINT, which it blocks, with the one thread of the process
 * that calls it. A program that does something else as well calls it in a child process. All texts belong to the
 * caller and must stay until the function returns. Messages name the options of these commands.
 *
 * These functions are in libtenon-rpc, a library beside libtenon (pkg-config: tenon-rpc).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/buffer.h>
#include <tenon/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct tenon_rpc_server_options - what a server does
 * @size: size of this struct in the program, which tenon_rpc_server_options_init() writes
 * @listen: addresses "HOST:PORT", "[HOST]:PORT" or "unix:PATH", ending with NULL; or NULL for none. Unused
 *	when a service manager passed sockets (LISTEN_FDS)
 * @stdio: serve the peer on standard input and output, and end: a client's connection, a listening socket of
 *	inetd, the pipes of ssh, a serial line
 * @key: clients must name it; "" for none
 * @base: folder for the folders of sessions
 * @sessions_most: sessions at a time; further clients wait
 * @session_ms: longest session in milliseconds; 0 for no limit
 * @request_ms: longest request; 0 for no limit
 * @cache_most: quota in bytes of the cache of files that clients need not send again; 0 for none
 * @packet_most: largest packet in bytes
 * @folder_most: quota of a session's folder in bytes
 * @folder_in_memory: a session's folder is memory, which only its processes see; the kernel then keeps it below
 *	@folder_most at each page. Needs root or user namespaces
 * @memory_most: private memory of a session's process, memory of all its processes, and of its tensors, in bytes;
 *	0 for no limit
 * @processes_most: processes and threads of a session
 * @native_code: sessions may load shared objects
 * @sandbox: limit the processes of sessions
 * @learn: let sessions make every system call, and report those that the sandbox's list lacks
 * @read: files and folders that sessions may read, ending with NULL; or NULL
 * @write: files and folders that sessions may write, ending with NULL; or NULL
 * @sockets: Unix sockets that sessions may connect to, ending with NULL; or NULL
 * @trust_network: accept clients of other machines that prove nothing, and all users of this one
 * @secret_file: file with what clients must prove to know; NULL for none
 * @tls_certificate: file with a certificate, PEM or DER, to speak TLS on TCP; NULL for plain bytes
 * @tls_key: file with its key; NULL without a certificate
 * @users: who may connect to Unix sockets besides this user and root, by name or number, ending with NULL; or
 *	NULL. At most 16
 * @groups: the same for members of groups
 * @tracker: offer sessions to the tracker "HOST:PORT"; NULL for none
 * @advertise_host: address to tell the tracker; NULL for the one that it sees
 * @advertise_port: port to tell the tracker; 0 for that of the first listening socket
 * @health_check: command that must succeed before the tracker hears of the server; NULL for none
 * @proxy: wait for clients at the proxy "HOST:PORT"; NULL for none
 * @say: called with a line for people: an address, a session that ended badly. It may quote what a peer sent
 * @context: passed to @say
 */
struct tenon_rpc_server_options {
	size_t size;
	const char *const *listen;
	const char *key;
	const char *base;
	uint64_t session_ms;
	uint64_t request_ms;
	uint64_t cache_most;
	uint64_t packet_most;
	uint64_t folder_most;
	uint64_t memory_most;
	unsigned int sessions_most;
	unsigned int processes_most;
	bool stdio;
	bool native_code;
	bool sandbox;
	bool learn;
	bool trust_network;
	bool folder_in_memory;
	uint16_t advertise_port;
	const char *const *read;
	const char *const *write;
	const char *const *sockets;
	const char *secret_file;
	const char *tls_certificate;
	const char *tls_key;
	const char *const *users;
	const char *const *groups;
	const char *tracker;
	const char *advertise_host;
	const char *health_check;
	const char *proxy;
	void (*say)(void *context, const char *line);
	void *context;
};

/**
 * tenon_rpc_server_options_init - write the defaults of "tenon rpc serve"
 * @options: receives them
 * @size: sizeof(*options)
 *
 * No address, no secret, the sandbox on, four sessions, half of this machine's memory, requests of at most
 * ten minutes, folders in TMPDIR or /tmp.
 */
TENON_API void tenon_rpc_server_options_init(struct tenon_rpc_server_options *options, size_t size);

/**
 * tenon_rpc_serve - serve clients, until SIGTERM or SIGINT, or until the peer of @stdio left
 * @options: what to do
 *
 * While it runs, SIGTERM, SIGINT and SIGCHLD are blocked. Those that came are taken before it returns, and the mask is what it was.
 *
 * Context: a process with one thread that has opened no device and no module.
 * Return: 0 after a signal; -TENON_E_IO; -TENON_E_VALUE for an address, a secret or a certificate, and for a
 *	file with a secret that uploaded code could read; -TENON_E_USAGE for options that exclude each other, for
 *	no address, and for a user or a group that there is not; -TENON_E_UNSUPPORTED for a part that this build lacks;
 *	-TENON_E_NOMEM.
 */
TENON_API int tenon_rpc_serve(const struct tenon_rpc_server_options *options);

/**
 * tenon_rpc_serve_session - serve one client on a connection that the program accepted
 * @fd: a socket behind the handshake: keys were exchanged. It stays open
 * @folder: folder for the session's files; they stay
 * @options: @packet_most, @folder_most, @memory_most and @native_code count, the others do not
 *
 * The session is served by the calling thread, without a sandbox: the client may do what this process may.
 *
 * Context: any thread; a thread serves one session.
 * Return: 0 when the client left; -TENON_E_IO; -TENON_E_FORMAT for a packet above the limit; -TENON_E_NOMEM.
 */
TENON_API int tenon_rpc_serve_session(int fd, const char *folder,
				      const struct tenon_rpc_server_options *options);

/**
 * tenon_rpc_send_exception - tell a client why its session ends, in the session's place
 * @fd: socket of a client of TVM 0.21 or later whose session no longer runs; stays open
 * @message: the client raises it as the failure of its current or next request
 *
 * Return: 0; -TENON_E_IO; -TENON_E_TIMEOUT; -TENON_E_NOMEM.
 */
TENON_API int tenon_rpc_send_exception(int fd, const char *message);

/**
 * struct tenon_rpc_tracker_options - what a tracker does
 * @size: size of this struct in the program
 * @listen: addresses "HOST:PORT" or "[HOST]:PORT"; ends with NULL
 * @wait_ms: a client that waits longer receives an error; 0 for no limit
 * @health_ms: free servers are checked so often; 0 for never
 * @answer_ms: a check fails when the server takes longer to answer
 * @connections_most: connections at a time; further ones are closed
 * @trust_network: accept addresses that other machines can reach
 * @say: as for servers
 * @context: passed to @say
 */
struct tenon_rpc_tracker_options {
	size_t size;
	const char *const *listen;
	uint64_t wait_ms;
	uint64_t health_ms;
	uint64_t answer_ms;
	unsigned int connections_most;
	bool trust_network;
	void (*say)(void *context, const char *line);
	void *context;
};

/**
 * tenon_rpc_tracker_options_init - write the defaults of "tenon rpc tracker"
 * @options: receives them
 * @size: sizeof(*options)
 */
TENON_API void tenon_rpc_tracker_options_init(struct tenon_rpc_tracker_options *options,
					      size_t size);

/**
 * tenon_rpc_track - be the tracker of servers and clients, until SIGTERM or SIGINT
 * @options: what to do
 *
 * Servers tell the tracker when they are free, clients ask it for one. It never waits for a peer. A server
 * whose connection ends leaves the queues; one that does not answer at its address is not handed out until
 * it does again.
 *
 * Context: blocks SIGTERM and SIGINT while it runs; those that came are taken before it returns, and the mask is what it was.
 * Return: 0 after a signal; -TENON_E_IO; -TENON_E_VALUE for an address; -TENON_E_USAGE for none;
 *	-TENON_E_UNSUPPORTED for a build without trackers; -TENON_E_NOMEM.
 */
TENON_API int tenon_rpc_track(const struct tenon_rpc_tracker_options *options);

/**
 * tenon_rpc_ask_tracker - send a tracker a message, and wait for its reply
 * @address: "HOST:PORT" or "[HOST]:PORT"
 * @message: JSON, as TVM's trackers take it: "[6]" asks for its servers and queues
 * @timeout_ms: for connecting, sending and receiving together
 * @reply: receives the JSON of the reply
 *
 * Return: 0; -TENON_E_VALUE for an address; -TENON_E_IO; -TENON_E_TIMEOUT; -TENON_E_FORMAT for what no
 *	tracker sends; -TENON_E_UNSUPPORTED, as tenon_rpc_track(); -TENON_E_NOMEM.
 */
TENON_API int tenon_rpc_ask_tracker(const char *address, const char *message, uint64_t timeout_ms,
				    struct tenon_buffer *reply);

/**
 * struct tenon_rpc_proxy_options - what a proxy does
 * @size: size of this struct in the program
 * @listen: addresses "HOST:PORT", "[HOST]:PORT" or "unix:PATH"; ends with NULL
 * @wait_ms: a peer that waits longer for another is refused
 * @connections_most: connections at a time; further ones are closed
 * @trust_network: accept addresses that other machines can reach
 * @advertise_port: the port to tell @tracker; 0 for the first TCP port of @listen
 * @advertise_host: the address to tell @tracker; NULL for that of the connection
 * @tracker: offer servers that wait to the tracker "HOST:PORT"; NULL for none
 * @say: as for servers
 * @context: passed to @say
 */
struct tenon_rpc_proxy_options {
	size_t size;
	const char *const *listen;
	uint64_t wait_ms;
	unsigned int connections_most;
	bool trust_network;
	uint16_t advertise_port;
	const char *advertise_host;
	const char *tracker;
	void (*say)(void *context, const char *line);
	void *context;
};

/**
 * tenon_rpc_proxy_options_init - write the defaults of "tenon rpc proxy"
 * @options: receives them
 * @size: sizeof(*options)
 */
TENON_API void tenon_rpc_proxy_options_init(struct tenon_rpc_proxy_options *options, size_t size);

/**
 * tenon_rpc_proxy - connect clients with servers that they cannot reach, until SIGTERM or SIGINT
 * @options: what to do
 *
 * Both connect to the proxy, and it copies between a server and a client with the same key. A side that does not
 * read stops the other one: the proxy holds at most 64 KiB for each direction.
 *
 * With a tracker, servers that wait are offered there under the proxy's address: a client asks the tracker for a
 * key, receives a match key, and brings it to the proxy. Clients with other keys are refused at once, several
 * servers may have one key, and servers wait without end.
 *
 * Context: blocks SIGTERM and SIGINT while it runs; those that came are taken before it returns, and the mask is what it was.
 * Return: as tenon_rpc_track().
 */
TENON_API int tenon_rpc_proxy(const struct tenon_rpc_proxy_options *options);

#ifdef __cplusplus
}
#endif

#endif /* TENON_RPC_H */
