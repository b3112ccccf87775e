/* SPDX-License-Identifier: MIT */
/* TLS of a build without CONFIG_MBEDTLS: each function refuses with the option's name. */
#include <stddef.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "rpc/wire/tls.h"

int tls_server_open(const char *certificate, const char *key, struct tls_server **out)
{
	*out = NULL;
	return tenon_error(-TENON_E_UNSUPPORTED, "%s: TLS needs a build with CONFIG_MBEDTLS",
			   certificate);
}

void tls_server_close(struct tls_server *s)
{
}

int tls_relay(const struct tls_server *s, int fd, int socket, struct relay_traffic *traffic)
{
	return -1;
}

int tls_connection_open(const char *text, uint64_t deadline, struct connection **out)
{
	*out = NULL;
	return tenon_error(-TENON_E_UNSUPPORTED, "%s: TLS needs a build with CONFIG_MBEDTLS", text);
}
