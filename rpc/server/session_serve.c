/* SPDX-License-Identifier: MIT */
/* Serve one session in the calling thread, for programs that accept connections themselves. */
#include <fcntl.h>
#include <tenon/rpc.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "rpc/server/session.h"
#include "rpc/wire/connection.h"
#include "rpc/wire/packet.h"

/* A connection that does not close the caller's descriptor with it */
static int connect_to(int fd, struct connection **out)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3), err;

	if (copy < 0)
		return tenon_error(-TENON_E_IO, "%d is no descriptor of a connection", fd);
	err = connection_of_fds(copy, copy, "the client", out);
	if (err)
		close(copy);
	return err;
}

int tenon_rpc_serve_session(int fd, const char *folder,
			    const struct tenon_rpc_server_options *options)
{
	const struct session_options session = {
		.packet_most = options->packet_most,
		.folder_most = options->folder_most,
		.memory_most = options->memory_most ? options->memory_most : UINT64_MAX,
		.native_code = options->native_code,
	};
	struct connection *connection;
	int err = connect_to(fd, &connection);

	if (err)
		return err;
	err = session_run(connection, folder, &session, NULL);
	connection_close(connection);
	return err;
}

int tenon_rpc_send_exception(int fd, const char *message)
{
	struct wire_value text = wire_string(message);
	struct tenon_buffer b = TENON_BUFFER_INIT;
	size_t start = packet_begin(&b, PACKET_EXCEPTION);
	struct connection *connection;
	struct iovec part;
	int err;

	wire_write_sequence(&b, WIRE_FFI, &text, 1);
	packet_end(&b, start, 0);
	part = (struct iovec){ b.data, b.size };
	err = b.status ? b.status : connect_to(fd, &connection);
	if (!err) {
		connection->deadline = connection_deadline(10000);
		err = connection_write(connection, &part, 1);
		connection_close(connection);
	}
	tenon_buffer_fini(&b);
	return err;
}
