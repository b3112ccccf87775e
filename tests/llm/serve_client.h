/* SPDX-License-Identifier: MIT */
/* A client of a tenon-serve that runs in this process, to see both ends of an exchange. */
#ifndef TESTS_LLM_SERVE_CLIENT_H
#define TESTS_LLM_SERVE_CLIENT_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define POST(path, body)                                                                           \
	"POST " path " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"          \
	"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n",                                 \
		body
#define GET(path) "GET " path " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", NULL

/* a request, the status of its reply, and what the reply has if all is well */
struct serve_exchange {
	const char *head, *body;
	int status;
	const char *words;
};

static inline int serve_dial(unsigned int port)
{
	const struct sockaddr_in at = { .sin_family = AF_INET,
					.sin_port = htons((uint16_t)port),
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&at, sizeof(at)))
		abort();
	return fd;
}

static inline void serve_put(int fd, const char *text)
{
	size_t left = strlen(text);
	ssize_t sent;

	/* the server may have ended the connection: the reply tells */
	while (left && (sent = send(fd, text, left, MSG_NOSIGNAL)) > 0) {
		text += sent;
		left -= (size_t)sent;
	}
}

/* Send a request, its body in two chunks. Return: the connection */
static inline int serve_send(unsigned int port, const struct serve_exchange *e)
{
	const size_t size = e->body ? strlen(e->body) : 0, half = size / 2;
	int fd = serve_dial(port);
	char chunks[400];
	int length;

	serve_put(fd, e->head);
	if (size) {
		length = snprintf(chunks, sizeof(chunks), "%zx\r\n%.*s\r\n%zx\r\n%s\r\n0\r\n\r\n",
				  half, (int)half, e->body, size - half, e->body + half);
		if (length < 0 || (size_t)length >= sizeof(chunks))
			abort();
		serve_put(fd, chunks);
	}
	return fd;
}

/* Read what comes until the end of the connection, and close it. */
static inline void serve_receive(int fd, char *reply, size_t room)
{
	size_t got = 0;
	ssize_t n;

	while (got < room - 1 && (n = recv(fd, reply + got, room - 1 - got, 0)) > 0)
		got += (size_t)n;
	reply[got] = '\0';
	close(fd);
}

static inline void serve_ask(unsigned int port, const struct serve_exchange *e, char *reply,
			     size_t room)
{
	serve_receive(serve_send(port, e), reply, room);
}

/* of a reply; 0 for none */
static inline int serve_status(const char *reply)
{
	return *reply ? atoi(reply + strlen("HTTP/1.1 ")) : 0;
}

#endif /* TESTS_LLM_SERVE_CLIENT_H */
