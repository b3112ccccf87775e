/* SPDX-License-Identifier: MIT */
/* Run commands by program, notice faults, power on, reset. */
#include "tools/hil/board.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "tools/file/file.h"

#define CHECK_SECONDS 15
#define GRACE	      (2 * SECOND)
#define RETRY_MS      300
/* A command's local program, such as ssh, may stay after the board's last line. */
#define LINGER	   (2 * SECOND)
#define LAST_BYTES 512

/* ---- states */

enum board_state hil_board_fault(struct board *board, enum board_state state, const char *format,
				 ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(board->fault, sizeof(board->fault), format, args);
	va_end(args);
	return state;
}

const char *hil_board_log(const struct board *board, const char *name, char path[512])
{
	snprintf(path, 512, "%s/%s", board->out, name);
	return path;
}

uint64_t hil_board_deadline(const struct board *board, int64_t seconds)
{
	uint64_t deadline = clock_now() + (uint64_t)seconds * SECOND;

	return deadline < board->until ? deadline : board->until;
}

enum board_state hil_board_overrun(const struct board *board, enum board_state state)
{
	if (stop_is_requested(board->stop))
		return BOARD_STOPPED;
	return clock_now() >= board->until ? BOARD_OVERDUE : state;
}

/* The raised error as a fault. */
static enum board_state fault_of_error(struct board *board, enum board_state state)
{
	hil_board_fault(board, state, "%s", tenon_error_message());
	tenon_error_clear();
	return state;
}

/* The last line of a file, for a fault. */
static void last_line_of(const char *path, char line[200])
{
	FILE *file = fopen(path, "re");
	char text[LAST_BYTES + 1], *start;
	size_t size;

	line[0] = '\0';
	if (!file)
		return;
	if (fseek(file, -LAST_BYTES, SEEK_END))
		rewind(file);
	size = fread(text, 1, LAST_BYTES, file);
	fclose(file);
	while (size && strchr("\r\n ", text[size - 1]))
		size--;
	text[size] = '\0';
	start = strrchr(text, '\n');
	snprintf(line, 200, "%.199s", start ? start + 1 : text);
}

/* ---- commands on this machine */

static enum board_state local_status(struct board *board, const char *what, const char *log,
				     int status)
{
	char line[200];

	last_line_of(log, line);
	switch (status) {
	case 0:
		return BOARD_OK;
	case 4:
	case 77:
		return hil_board_fault(board, BOARD_UNABLE, "%s: %s", what,
				       line[0] ? line : "not possible on this machine");
	case 126:
	case 127:
		return hil_board_fault(board, BOARD_UNABLE,
				       "%s: a program is missing on this machine: %s", what, line);
	default:
		return hil_board_fault(board, BOARD_BROKEN, "%s: exit status %d: %s (%s)", what,
				       status, line, log);
	}
}

enum board_state hil_board_local(struct board *board, const char *what, const char *command,
				 const char *word, int64_t seconds)
{
	struct process process;
	char name[64], log[512];
	int status, err;

	snprintf(name, sizeof(name), "logs/%s.log", what);
	hil_board_log(board, name, log);
	if (process_start(command, word, NULL, log, &process))
		return fault_of_error(board, BOARD_UNABLE);
	err = process_wait(&process, hil_board_deadline(board, seconds), board->stop, &status);
	if (!err)
		return local_status(board, what, log, status);
	process_end(&process, GRACE);
	hil_board_fault(board, BOARD_BROKEN, "%s: not finished after %lld s (%s)", what,
			(long long)seconds, log);
	return hil_board_overrun(board, BOARD_BROKEN);
}

/* ---- the last line of a command on the board */

static void next_mark(struct board *board, char mark[BOARD_MARK])
{
	snprintf(mark, BOARD_MARK, "@tenon-hil-%s-%u", board->nonce, ++board->commands);
}

static const char *find_last(const struct tenon_buffer *text, const char *mark)
{
	const char *found = NULL, *at = text->data, *end = text->data + text->size;

	while (text->size && (at = memmem(at, (size_t)(end - at), mark, strlen(mark))))
		found = at++;
	return found;
}

/* Read "MARK ended 3" and cut it from the output. */
static bool read_ending(struct tenon_buffer *output, const char *mark, struct suite_ending *ending)
{
	const char *found = find_last(output, mark);
	char word[16];
	int status;

	if (!found || sscanf(found + strlen(mark), " %15[a-z] %d", word, &status) != 2)
		return false;
	ending->status = status;
	ending->stopped = !strcmp(word, "stopped");
	output->size = (size_t)(found - output->data);
	/* The mark begins a line of its own. */
	if (output->size && output->data[output->size - 1] == '\n')
		output->size--;
	return true;
}

void hil_board_reply_fini(struct board_reply *reply)
{
	tenon_buffer_fini(&reply->output);
}

/* ---- commands on the board, by a program such as ssh */

static bool has_mark(const char *path, const char *mark)
{
	char line[200];

	last_line_of(path, line);
	return strstr(line, mark) != NULL;
}

/* Wait for the program's end, or a little longer than for the last line. */
static int wait_for_answer(struct board *board, struct process *process, const char *out,
			   const char *mark, uint64_t deadline, int *status)
{
	uint64_t linger = 0;
	int err;

	for (;;) {
		uint64_t slice = clock_now() + SECOND / 2;

		err = process_wait(process, slice < deadline ? slice : deadline, board->stop,
				   status);
		if (err != -TENON_E_TIMEOUT || clock_now() >= deadline)
			break;
		if (!linger && has_mark(out, mark))
			linger = clock_now() + LINGER;
		if (linger && clock_now() >= linger)
			break;
	}
	process_end(process, GRACE);
	return err;
}

static enum board_state no_answer(struct board *board, const char *out, int err, int status,
				  int64_t seconds)
{
	char line[200];

	if (err) {
		hil_board_fault(board, BOARD_BROKEN, "no answer within %lld s", (long long)seconds);
		return hil_board_overrun(board, BOARD_BROKEN);
	}
	last_line_of(out, line);
	if (status == 126 || status == 127)
		return hil_board_fault(
			board, BOARD_UNABLE,
			"exec of \"reach\": a program is missing on this machine: %s", line);
	return hil_board_fault(board, BOARD_BROKEN,
			       "the connection ended with status %d before the command did%s%s",
			       status, line[0] ? "; last line: " : "", line);
}

static enum board_state by_program(struct board *board, const char *text, const char *mark,
				   const char *in, const char *out, int64_t seconds,
				   struct board_reply *reply)
{
	char *local;
	struct process process;
	int status = 0, err;

	if (asprintf(&local, "%s \"$1\"", board->target->exec) < 0)
		return hil_board_fault(board, BOARD_UNABLE, "no memory for a command");
	err = process_start(local, text, in, out, &process);
	free(local);
	if (err)
		return fault_of_error(board, BOARD_UNABLE);
	err = wait_for_answer(board, &process, out, mark, hil_board_deadline(board, seconds),
			      &status);
	if (file_read_text(out, &reply->output))
		return fault_of_error(board, BOARD_UNABLE);
	if (read_ending(&reply->output, mark, &reply->ending))
		return BOARD_OK;
	if (reply->output.size >= PROCESS_OUTPUT_MOST) {
		reply->ending.status = 128 + SIGXFSZ;
		return BOARD_OK;
	}
	return no_answer(board, out, err, status, seconds);
}

enum board_state hil_board_command(struct board *board, const char *command, const char *in,
				   int64_t seconds, struct board_reply *reply)
{
	char mark[BOARD_MARK], out[512], *text;
	enum board_state state;

	*reply = (struct board_reply){ .output = TENON_BUFFER_INIT };
	next_mark(board, mark);
	if (asprintf(&text, "( %s ) 2>&1%s; printf '\\n%%s ended %%d\\n' '%s' $?\n", command,
		     in ? "" : " </dev/null", mark) < 0)
		return hil_board_fault(board, BOARD_UNABLE, "no memory for a command");
	snprintf(out, sizeof(out), "%s/reply", board->work);
	unlink(out);
	state = by_program(board, text, mark, in, out, seconds, reply);
	free(text);
	return state;
}

enum board_state hil_board_suite(struct board *board, const char *command, int64_t deadline,
				 const char *log, struct board_reply *reply)
{
	/* The board stops the suite at its deadline; only a broken board needs longer. */
	int64_t longest = deadline + CHECK_SECONDS;
	char mark[BOARD_MARK], *text;
	enum board_state state;

	*reply = (struct board_reply){ .output = TENON_BUFFER_INIT };
	next_mark(board, mark);
	if (asprintf(&text, "cd '%s' && sh ./tenon-hil-suite '%s' %lld %s\n",
		     board->target->directory, mark, (long long)deadline, command) < 0)
		return hil_board_fault(board, BOARD_UNABLE, "no memory for a command");
	unlink(log);
	state = by_program(board, text, mark, NULL, log, longest, reply);
	free(text);
	return state;
}

static enum board_state check_state(struct board *board, const struct board_reply *reply)
{
	const struct tenon_buffer *output = &reply->output;
	int size = output->size < 500 ? (int)output->size : 500, status = reply->ending.status;

	if (!status)
		return BOARD_OK;
	return hil_board_fault(board, status == 77 || status == 4 ? BOARD_UNABLE : BOARD_BROKEN,
			       "the board's check failed with status %d: %.*s", status, size,
			       size ? output->data : "");
}

enum board_state hil_board_answers(struct board *board, int64_t seconds)
{
	struct board_reply reply;
	enum board_state state;

	state = hil_board_command(board, board->target->check, NULL, seconds, &reply);
	if (state == BOARD_OK)
		state = check_state(board, &reply);
	hil_board_reply_fini(&reply);
	return state;
}

/* ---- start, reset, stop */

static enum board_state machine_ended(struct board *board, int status)
{
	char log[512];
	enum board_state state;

	hil_board_log(board, "logs/run.log", log);
	state = local_status(board, "run", log, status);
	return state == BOARD_OK
		       ? hil_board_fault(board, BOARD_BROKEN,
					 "run: the board's process ended by itself (%s)", log)
		       : state;
}

static enum board_state try_once(struct board *board, uint64_t deadline)
{
	int64_t seconds = (int64_t)((deadline - clock_now()) / SECOND) + 1;

	return hil_board_answers(board, seconds < CHECK_SECONDS ? seconds : CHECK_SECONDS);
}

static enum board_state reach(struct board *board)
{
	uint64_t deadline = hil_board_deadline(board, board->target->deadlines.reach);
	enum board_state state;
	bool tried = false;
	char fault[sizeof(board->fault)] = "it was not tried";
	int status;

	for (;;) {
		if (board->machine.pid && process_has_ended(&board->machine, &status))
			return machine_ended(board, status);
		if (stop_is_requested(board->stop) || clock_now() >= deadline)
			break;
		state = try_once(board, deadline);
		if (state != BOARD_BROKEN)
			return state;
		/* An attempt that the deadline cut off knows less than the one before it. */
		if (clock_now() < deadline || !tried)
			memcpy(fault, board->fault, sizeof(fault));
		tried = true;
		process_pause(board->stop, RETRY_MS);
	}
	hil_board_fault(board, BOARD_BROKEN, "the board cannot be reached within %lld s: %.900s",
			(long long)board->target->deadlines.reach, fault);
	return hil_board_overrun(board, BOARD_BROKEN);
}

static enum board_state power_on(struct board *board)
{
	const struct target *t = board->target;
	char log[512];

	board->started = true;
	if (t->run && process_start(t->run, NULL, NULL, hil_board_log(board, "logs/run.log", log),
				    &board->machine))
		return fault_of_error(board, BOARD_UNABLE);
	return t->start ? hil_board_local(board, "start", t->start, NULL, t->deadlines.start)
			: BOARD_OK;
}

enum board_state hil_board_start(struct board *board)
{
	enum board_state state = power_on(board);

	return state == BOARD_OK ? reach(board) : state;
}

enum board_state hil_board_reset(struct board *board)
{
	const struct target *t = board->target;
	enum board_state state;
	int status;

	/* A reset needs the board's process. */
	if (t->reset && !(t->run && process_has_ended(&board->machine, &status))) {
		state = hil_board_local(board, "reset", t->reset, NULL, t->deadlines.start);
		return state == BOARD_OK ? reach(board) : state;
	}
	hil_board_stop(board);
	state = hil_board_overrun(board, BOARD_OK);
	return state == BOARD_OK ? hil_board_start(board) : state;
}

void hil_board_stop(struct board *board)
{
	static volatile sig_atomic_t never;
	const struct stop none = { -1, &never }, *stop = board->stop;
	const struct target *t = board->target;
	uint64_t until = board->until;
	char fault[sizeof(board->fault)];

	memcpy(fault, board->fault, sizeof(fault));
	/* The board is stopped even after a request to stop or the end of the run's time. */
	board->stop = &none;
	board->until = UINT64_MAX;
	if (board->started && t->stop)
		hil_board_local(board, "stop", t->stop, NULL, t->deadlines.stop);
	process_end(&board->machine, GRACE);
	board->started = false;
	board->stop = stop;
	board->until = until;
	memcpy(board->fault, fault, sizeof(fault));
}
