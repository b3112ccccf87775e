/* SPDX-License-Identifier: MIT */
/* Copy files to a board, with a checksum. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file_map.h"
#include "tools/file/file.h"
#include "tools/hil/board.h"

#define ATTEMPTS	2
#define COMMAND_SECONDS 30

/*
 * On the board: tenon-hil-suite MARK SECONDS PROGRAM [ARGUMENT]... A suite gets a session of its own, so
 * that all of its processes can be killed. The shell's own job control would need a terminal.
 */
const char hil_board_script[] =
	"# runs a suite, stops it at its deadline and prints how it ended\n"
	"mark=$1 seconds=$2\n"
	"shift 2\n"
	"rm -f tenon-hil-stopped\n"
	"exec 3>&1\n"
	"exec 2>&1\n"
	"if command -v setsid > /dev/null 2>&1; then new='setsid' group=-; else new='' group=''; "
	"fi\n"
	"$new \"$@\" < /dev/null 3>&- &\n"
	"suite=$!\n"
	"$new sh -c 'sleep \"$1\"; : > tenon-hil-stopped; kill -9 \"$2\"' sh \"$seconds\" \\\n"
	"	\"$group$suite\" < /dev/null > /dev/null 2>&1 3>&- &\n"
	"watch=$!\n"
	"wait $suite 2> /dev/null\n"
	"status=$?\n"
	"{ kill -9 $watch; kill -9 $group$watch; kill -9 $group$suite; wait; } > /dev/null 2>&1\n"
	"word=ended\n"
	"[ ! -e tenon-hil-stopped ] || word=stopped\n"
	"printf '\\n%s %s %d\\n' \"$mark\" $word $status >&3\n";

/* ---- checksums */

/* The 64 hexadecimal digits behind "sum=". */
static bool find_checksum(const struct tenon_buffer *text, char out[65])
{
	static const char before[] = "sum=";
	const char *at = text->size ? memmem(text->data, text->size, before, 4) : NULL;

	if (!at || (size_t)(text->data + text->size - at) < 4 + 64)
		return false;
	snprintf(out, 65, "%.64s", at + 4);
	return strspn(out, "0123456789abcdef") == 64;
}

int hil_file_checksum(const char *path, char digits[SHA256_TEXT])
{
	struct tenon_slice bytes;
	int err;

	*digits = '\0';
	err = file_map_open(path, &bytes);
	if (err)
		return err;
	sha256_of(bytes.data, bytes.size, digits);
	file_map_close(&bytes);
	return 0;
}

static enum board_state checksum_here(struct board *board, const char *path, char out[SHA256_TEXT])
{
	if (!hil_file_checksum(path, out))
		return BOARD_OK;
	hil_board_fault(board, BOARD_UNABLE, "%s", tenon_error_message());
	tenon_error_clear();
	return BOARD_UNABLE;
}

/* ---- to the board */

static enum board_state must_succeed(struct board *board, const char *what, enum board_state state,
				     const struct board_reply *reply)
{
	size_t size = reply->output.size < 300 ? reply->output.size : 300;

	if (state != BOARD_OK || !reply->ending.status)
		return state;
	return hil_board_fault(board, BOARD_BROKEN, "%s: exit status %d on the board: %.*s", what,
			       reply->ending.status, (int)size, size ? reply->output.data : "");
}

static enum board_state command_must_succeed(struct board *board, const char *what,
					     const char *command, const char *in, int64_t seconds)
{
	struct board_reply reply;
	enum board_state state = hil_board_command(board, command, in, seconds, &reply);

	state = must_succeed(board, what, state, &reply);
	hil_board_reply_fini(&reply);
	return state;
}

static enum board_state compare(struct board *board, const char *path)
{
	struct board_reply reply;
	char here[65], there[65], command[1024];
	enum board_state state = checksum_here(board, path, here);

	if (state != BOARD_OK)
		return state;
	snprintf(command, sizeof(command), "cd '%s' && echo sum=$(sha256sum < archive)",
		 board->target->directory);
	state = hil_board_command(board, command, NULL, COMMAND_SECONDS, &reply);
	state = must_succeed(board, "copy", state, &reply);
	if (state == BOARD_OK && (!find_checksum(&reply.output, there) || strcmp(here, there) != 0))
		state = hil_board_fault(board, BOARD_BROKEN,
					"copy: the files arrived with another checksum");
	hil_board_reply_fini(&reply);
	return state;
}

static enum board_state send_archive(struct board *board, const char *path)
{
	const char *directory = board->target->directory;
	char command[1024];
	enum board_state state;

	snprintf(command, sizeof(command), "rm -rf '%s' && mkdir -p '%s'", directory, directory);
	state = command_must_succeed(board, "copy", command, NULL, COMMAND_SECONDS);
	if (state != BOARD_OK)
		return state;
	snprintf(command, sizeof(command), "cat > '%s/archive'", directory);
	return command_must_succeed(board, "copy", command, path, board->target->deadlines.copy);
}

static enum board_state send_once(struct board *board, const char *path)
{
	const char *directory = board->target->directory;
	char command[1024];
	enum board_state state = send_archive(board, path);

	if (state == BOARD_OK)
		state = compare(board, path);
	if (state != BOARD_OK)
		return state;
	snprintf(command, sizeof(command), "cd '%s' && tar -xf archive && rm archive", directory);
	return command_must_succeed(board, "copy", command, NULL, board->target->deadlines.copy);
}

enum board_state hil_board_send(struct board *board)
{
	uint64_t until = board->until,
		 deadline = hil_board_deadline(board, board->target->deadlines.copy);
	enum board_state state;
	char path[512];

	snprintf(path, sizeof(path), "%s/archive", board->work);
	state = hil_board_local(board, "pack", "tar -C \"$TENON_HIL_WORK/stage\" -cf \"$1\" .",
				path, board->target->deadlines.copy);
	if (state != BOARD_OK)
		return state;
	board->until = deadline;
	for (int i = 0; i < ATTEMPTS; i++) {
		state = send_once(board, path);
		if (state != BOARD_BROKEN)
			break;
	}
	board->until = until;
	if (state == BOARD_OVERDUE && hil_board_overrun(board, BOARD_OK) == BOARD_OK)
		state = hil_board_fault(board, BOARD_BROKEN, "copy: not finished after %lld s",
					(long long)board->target->deadlines.copy);
	return state;
}
