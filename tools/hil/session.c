/* SPDX-License-Identifier: MIT */
/* Prepare files, bring the board up, attempt each suite, conclude verdicts. */
#include "tools/hil/session.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <tenon/backend/buffer.h>
#include <tenon/tenon.h>
#include <time.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/clock.h"
#include "tools/cli/cli.h"
#include "tools/file/output.h"
#include "tools/text/text.h"

#define ATTEMPTS      2
#define FACTS_SECONDS 30
#define LOCAL_SECONDS 120
#define IDLE_MOST     10
#define ALIVE_SECONDS 15

static void say(const struct session *s, const char *format, ...) TENON_PRINTF(2, 3);

static void say(const struct session *s, const char *format, ...)
{
	va_list args;

	if (!s->progress)
		return;
	va_start(args, format);
	vfprintf(s->progress, format, args);
	va_end(args);
	fputc('\n', s->progress);
	fflush(s->progress);
}

/* ---- facts for the reports */

static void add_fact(struct session *s, const char *key, struct tenon_slice value)
{
	if (!value.size)
		return;
	tenon_buffer_printf(&s->facts, "%s: ", key);
	printable_append(&s->facts, value, 300);
	tenon_buffer_u8(&s->facts, '\n');
}

/* The hash of a file; empty for one that cannot be read. */
static void hash_file(const char *path, char digits[SHA256_TEXT])
{
	if (hil_file_checksum(path, digits))
		tenon_error_clear();
}

static void add_facts_of_host(struct session *s)
{
	char text[128], hash[SHA256_TEXT];
	struct utsname name;
	time_t now = time(NULL);
	struct tm utc;

	s->started_at = now;
	add_fact(s, "tenon", tenon_slice_of(tenon_version()));
	add_fact(s, "configuration", tenon_slice_of(tenon_configuration()));
	add_fact(s, "target", tenon_slice_of(s->target->name));
	add_fact(s, "target file", tenon_slice_of(s->target->path));
	hash_file(s->target->path, hash);
	add_fact(s, "target sha256", tenon_slice_of(hash));
	snprintf(text, sizeof(text), "%" PRIu64, s->seed);
	add_fact(s, "seed", tenon_slice_of(text));
	if (gmtime_r(&now, &utc) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc))
		add_fact(s, "started", tenon_slice_of(text));
	if (!uname(&name)) {
		snprintf(text, sizeof(text), "%.40s %.40s %.40s", name.sysname, name.release,
			 name.machine);
		add_fact(s, "host", tenon_slice_of(text));
	}
}

static const char facts_command[] =
	"echo fact machine $(uname -m); echo fact kernel $(uname -s -r);"
	" echo fact build $(uname -v);"
	" echo fact processors $(grep -c '^processor' /proc/cpuinfo 2>/dev/null);"
	" echo fact model $(tr -d '\\000' < /proc/device-tree/model 2>/dev/null);"
	" echo fact governor $(cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor "
	"2>/dev/null);"
	" echo fact tenon $(tenon --version 2>/dev/null | head -n 1)";

static void read_fact(struct session *s, struct tenon_slice line)
{
	static const char *const keys[] = { "machine ", "kernel ",   "build ", "processors ",
					    "model ",	"governor ", "tenon " };
	char key[40];

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		size_t size = strlen(keys[i]);

		if (line.size <= size || memcmp(line.data, keys[i], size) != 0)
			continue;
		snprintf(key, sizeof(key), "board %.*s", (int)size - 1, keys[i]);
		line.data += size;
		line.size -= size;
		if (!i)
			snprintf(s->machine, sizeof(s->machine), "%.*s", (int)line.size, line.data);
		add_fact(s, key, line);
		return;
	}
}

static enum board_state add_facts_of_board(struct session *s)
{
	struct board_reply reply;
	enum board_state state;
	const char *at, *end;

	state = hil_board_command(&s->board, facts_command, NULL, FACTS_SECONDS, &reply);
	at = reply.output.data;
	end = at + reply.output.size;
	while (state == BOARD_OK && at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;
		struct tenon_slice line = { at, (size_t)(stop - at) };

		while (line.size && line.data[line.size - 1] == '\r')
			line.size--;
		if (line.size > 5 && !memcmp(line.data, "fact ", 5))
			read_fact(s, (struct tenon_slice){ line.data + 5, line.size - 5 });
		at = newline ? newline + 1 : end;
	}
	hil_board_reply_fini(&reply);
	return state;
}

/* ---- the files that go to the board */

/* Quote a word for a shell. */
static void quote(struct tenon_buffer *out, const char *word)
{
	tenon_buffer_u8(out, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			tenon_buffer_printf(out, "'\\''");
		else
			tenon_buffer_u8(out, (uint8_t)*word);
	}
	tenon_buffer_u8(out, '\'');
}

/* Where a file goes on the board: to the same relative path; without one, to a folder for such. */
static char *path_on_board(const char *file)
{
	const char *base = strrchr(file, '/');
	bool outside = file[0] == '/' || !strncmp(file, "../", 3) || strstr(file, "/../");
	char *path;

	while (!strncmp(file, "./", 2))
		file += 2;
	if (!outside)
		return strdup(file);
	return asprintf(&path, "outside/%s", base ? base + 1 : file) < 0 ? NULL : path;
}

static enum board_state stage_file(struct session *s, const char *file, const char *path)
{
	struct tenon_buffer command = TENON_BUFFER_INIT;
	const char *slash = strrchr(path, '/');
	char *to = NULL, *folder = NULL;
	enum board_state state = BOARD_UNABLE;

	if (asprintf(&to, "%s/stage/%s", s->work, path) < 0)
		to = NULL;
	if (to)
		folder = strndup(to, strlen(to) - (slash ? strlen(slash) : strlen(path) + 1));
	if (folder) {
		tenon_buffer_printf(&command, "mkdir -p ");
		quote(&command, folder);
		tenon_buffer_printf(&command, " && cp -RL \"$1\" ");
		quote(&command, to);
		tenon_buffer_u8(&command, 0);
	}
	if (folder && !command.status)
		state = hil_board_local(&s->board, "stage", command.data, file, LOCAL_SECONDS);
	else
		hil_board_fault(&s->board, BOARD_UNABLE, "%s: no memory for a path", file);
	tenon_buffer_fini(&command);
	free(folder);
	free(to);
	return state;
}

static int stage_suite(struct session *s, struct session_suite *suite)
{
	const struct target_suite *d = &suite->definition;
	struct stat about;

	suite->path = path_on_board(d->file);
	if (!suite->path)
		return tenon_error(-TENON_E_NOMEM, "no memory for a path");
	if (stat(d->file, &about) || !S_ISREG(about.st_mode))
		return suite_result_set(
			&suite->result, VERDICT_UNABLE,
			"%s: no such file; build it, or give a command of \"build\" in %s", d->file,
			s->target->path);
	hash_file(d->file, suite->result.sha256);
	if (stage_file(s, d->file, suite->path) != BOARD_OK)
		return suite_result_set(&suite->result, VERDICT_UNABLE, "%s", s->board.fault);
	for (size_t i = 0; i < d->needs.count; i++) {
		char *path = path_on_board(d->needs.at[i]);
		enum board_state state = path ? stage_file(s, d->needs.at[i], path) : BOARD_UNABLE;

		free(path);
		if (state != BOARD_OK)
			return suite_result_set(&suite->result, VERDICT_UNABLE, "%s",
						s->board.fault);
	}
	return 0;
}

static int stage_all(struct session *s)
{
	struct tenon_slice script = tenon_slice_of(hil_board_script);
	char path[512];
	int err;

	snprintf(path, sizeof(path), "%s/stage", s->work);
	if (mkdir(path, 0755))
		return tenon_error(-TENON_E_IO, "%s: cannot create: %m", path);
	snprintf(path, sizeof(path), "%s/stage/tenon-hil-suite", s->work);
	err = output_write(path, &script, 1);
	for (size_t i = 1; !err && i < s->count; i++)
		err = stage_suite(s, &s->suites[i]);
	return err;
}

/* ---- programs of other machines */

static const char *machine_of_elf(const char *path, unsigned char header[20])
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, header, 20);
	bool big;

	if (fd >= 0)
		close(fd);
	if (got < 20 || memcmp(header, ELFMAG, SELFMAG) != 0)
		return NULL;
	big = header[EI_DATA] == ELFDATA2MSB;
	switch (header[big ? 19 : 18] | header[big ? 18 : 19] << 8) {
	case EM_X86_64:
		return "x86_64";
	case EM_AARCH64:
		return "aarch64";
	case EM_ARM:
		return "arm";
	case EM_RISCV:
		return header[EI_CLASS] == ELFCLASS64 ? "riscv64" : "riscv32";
	default:
		return NULL;
	}
}

/* 64-bit kernels may run 32-bit programs of their family; only other families are wrong. */
static int check_machine(struct session *s, struct session_suite *suite)
{
	unsigned char header[20];
	const char *program = machine_of_elf(suite->definition.file, header), *machine = s->machine;
	bool fits;

	if (!program || !*machine || s->target->wrap)
		return 0;
	fits = !strncmp(machine, program, strlen(program)) ||
	       (!strcmp(program, "arm") && !strcmp(machine, "aarch64"));
	if (fits)
		return 0;
	return suite_result_set(&suite->result, VERDICT_UNABLE,
				"%s is a program for %s, the board is %s; build it for the board, "
				"for example with CROSS_COMPILE",
				suite->definition.file, program, machine);
}

/* ---- a suite */

/* A module tests itself: the board has tenon, or brings it. */
static bool is_module(const char *file)
{
	const char *dot = strrchr(file, '.');

	return dot && !strcmp(dot, ".so");
}

static int suite_command(const struct session *s, const struct session_suite *suite,
			 struct tenon_buffer *out)
{
	const struct target_suite *d = &suite->definition;
	bool folder = strchr(suite->path, '/') != NULL;
	char *path;

	tenon_buffer_printf(out, "env TENON_SEED=%" PRIu64 " CMOCKA_MESSAGE_OUTPUT=TAP ", s->seed);
	if (s->target->wrap)
		tenon_buffer_printf(out, "%s ", s->target->wrap);
	if (is_module(d->file))
		tenon_buffer_printf(out, "${TENON_COMMAND:-tenon} run --self-test ");
	if (asprintf(&path, "%s%s", folder ? "" : "./", suite->path) < 0)
		return tenon_error(-TENON_E_NOMEM, "no memory for a path");
	quote(out, path);
	free(path);
	for (size_t i = 0; i < d->arguments.count; i++) {
		tenon_buffer_u8(out, ' ');
		quote(out, d->arguments.at[i]);
	}
	return tenon_buffer_u8(out, 0);
}

static const char *log_of(const struct session *s, const struct session_suite *suite,
			  char path[512])
{
	char name[200];

	snprintf(name, sizeof(name), "suites/%.150s.log", suite->definition.name);
	for (char *c = name + 7; *c; c++) {
		if (*c == '/' || *c == ' ')
			*c = '-';
	}
	return hil_board_log(&s->board, name, path);
}

static int64_t deadline_of(const struct session *s, const struct session_suite *suite)
{
	return suite->definition.deadline ? suite->definition.deadline : s->target->deadlines.suite;
}

static enum board_state attempt(struct session *s, struct session_suite *suite)
{
	struct tenon_buffer command = TENON_BUFFER_INIT;
	struct board_reply reply = { .output = TENON_BUFFER_INIT };
	uint64_t begin = clock_now();
	enum board_state state = BOARD_UNABLE;
	char log[512];

	suite->result.attempts++;
	if (!suite_command(s, suite, &command))
		state = hil_board_suite(&s->board, command.data, deadline_of(s, suite),
					log_of(s, suite, log), &reply);
	suite->result.seconds = (double)(clock_now() - begin) / 1e9;
	reply.ending.deadline = deadline_of(s, suite);
	if (state == BOARD_OK &&
	    suite_result_read((struct tenon_slice){ reply.output.size ? reply.output.data : "",
						    reply.output.size },
			      &reply.ending, &suite->result))
		state = hil_board_fault(&s->board, BOARD_UNABLE, "%s", tenon_error_message());
	tenon_error_clear();
	hil_board_reply_fini(&reply);
	tenon_buffer_fini(&command);
	return state;
}

static bool has_failed(const struct suite_result *result)
{
	return result->verdict == VERDICT_FAIL || result->verdict == VERDICT_TIMEOUT;
}

static enum board_state recover(struct session *s)
{
	enum board_state state;

	s->resets++;
	say(s, "hil: the board broke (%s); resetting it", s->board.fault);
	state = hil_board_reset(&s->board);
	return state == BOARD_OK ? hil_board_send(&s->board) : state;
}

/*
 * The board broke in both attempts. If it survives as long without the suite, the suite breaks it.
 */
static enum board_state blame(struct session *s, struct session_suite *suite, const char *fault)
{
	int seconds =
		suite->result.seconds < IDLE_MOST ? (int)suite->result.seconds + 1 : IDLE_MOST;
	struct board_reply reply;
	enum board_state state;
	char command[32];

	say(s, "hil: %s: letting the board idle for %d s to compare", suite->definition.name,
	    seconds);
	snprintf(command, sizeof(command), "sleep %d", seconds);
	state = hil_board_command(&s->board, command, NULL, seconds + ALIVE_SECONDS, &reply);
	hil_board_reply_fini(&reply);
	if (state == BOARD_OK)
		state = hil_board_answers(&s->board, ALIVE_SECONDS);
	if (state != BOARD_OK) {
		suite_result_set(&suite->result, VERDICT_ERROR,
				 "the board breaks even while idle: %s", s->board.fault);
		return state;
	}
	suite_result_set(&suite->result, VERDICT_FAIL,
			 "the suite breaks the board: in %u attempts out of %u, and not while the "
			 "board was idle for %d s: %s",
			 suite->result.attempts, suite->result.attempts, seconds, fault);
	return BOARD_OK;
}

/* A suite that fails on a board that then does not answer has no verdict. */
static enum board_state attempt_and_check(struct session *s, struct session_suite *suite)
{
	enum board_state state = attempt(s, suite);

	if (state != BOARD_OK)
		return state;
	state = hil_board_answers(&s->board, ALIVE_SECONDS);
	if (state == BOARD_UNABLE)
		state = BOARD_BROKEN;
	if (state != BOARD_BROKEN || has_failed(&suite->result))
		return state;
	/* It ended before the board broke: its results stand. */
	return recover(s);
}

static enum board_state run_attempts(struct session *s, struct session_suite *suite)
{
	char fault[sizeof(s->board.fault)] = "";
	enum board_state state;

	for (int i = 0; i < ATTEMPTS; i++) {
		state = attempt_and_check(s, suite);
		if (state == BOARD_OK && i && suite->result.verdict != VERDICT_UNABLE)
			suite_result_set(
				&suite->result, VERDICT_ERROR,
				"the board broke in the first attempt (%s), and the second "
				"ended with: %s",
				fault, verdict_name(suite->result.verdict));
		if (state != BOARD_BROKEN)
			return state;
		memcpy(fault, s->board.fault, sizeof(fault));
		state = recover(s);
		if (state != BOARD_OK)
			return state;
	}
	return blame(s, suite, fault);
}

static enum board_state run_suite(struct session *s, struct session_suite *suite)
{
	enum board_state state;

	if (suite->result.verdict == VERDICT_UNABLE || check_machine(s, suite) ||
	    suite->result.verdict == VERDICT_UNABLE)
		return BOARD_OK;
	say(s, "hil: running %s", suite->definition.name);
	state = run_attempts(s, suite);
	if (state == BOARD_UNABLE) {
		suite_result_set(&suite->result, VERDICT_UNABLE, "%s", s->board.fault);
		return BOARD_OK;
	}
	if (state != BOARD_OK)
		suite_result_set(&suite->result, VERDICT_ERROR, "%s", s->board.fault);
	return state;
}

/* ---- the run */

static enum board_state prepare(struct session *s)
{
	const struct target *t = s->target;
	enum board_state state = BOARD_OK;

	if (t->build) {
		say(s, "hil: building");
		state = hil_board_local(&s->board, "build", t->build, NULL, t->deadlines.build);
		/* A build that fails says nothing about the board. */
		if (state == BOARD_BROKEN)
			state = BOARD_UNABLE;
	}
	if (state == BOARD_OK && t->prepare) {
		say(s, "hil: preparing");
		state = hil_board_local(&s->board, "prepare", t->prepare, NULL,
					t->deadlines.prepare);
	}
	if (state == BOARD_OK && stage_all(s)) {
		state = hil_board_fault(&s->board, BOARD_UNABLE, "%s", tenon_error_message());
		tenon_error_clear();
	}
	return state;
}

static enum board_state bring_up(struct session *s)
{
	enum board_state state = prepare(s);

	if (state != BOARD_OK)
		return state;
	say(s, "hil: starting %s", s->target->name);
	state = hil_board_start(&s->board);
	if (state == BOARD_OK)
		state = add_facts_of_board(s);
	if (state == BOARD_OK && s->count > 1)
		state = hil_board_send(&s->board);
	return state;
}

static void conclude_board(struct session *s)
{
	struct suite_result *result = &s->suites[0].result;

	if (s->state == BOARD_OK) {
		result->verdict = VERDICT_PASS;
		return;
	}
	if (s->state != BOARD_UNABLE) {
		suite_result_set(result, VERDICT_ERROR, "%s", s->board.fault);
		return;
	}
	for (size_t i = 0; i < s->count; i++)
		suite_result_set(&s->suites[i].result, VERDICT_UNABLE, "%s", s->board.fault);
}

static void explain_end(struct session *s, enum board_state state)
{
	if (state == BOARD_STOPPED)
		hil_board_fault(&s->board, state, "stopped by a signal or the end of the command");
	else if (state == BOARD_OVERDUE)
		hil_board_fault(&s->board, state,
				"the whole run took longer than its deadline of %lld s",
				(long long)s->deadline);
}

static void run_suites(struct session *s)
{
	for (size_t i = 1; s->state == BOARD_OK && i < s->count; i++) {
		s->state = run_suite(s, &s->suites[i]);
		explain_end(s, s->state);
		if (s->state != BOARD_OK && s->suites[i].result.verdict == VERDICT_ERROR)
			suite_result_set(&s->suites[i].result, VERDICT_ERROR, "%s", s->board.fault);
	}
}

static void export_names(const struct session *s)
{
	setenv("TENON_HIL_WORK", s->work, 1);
	setenv("TENON_HIL_OUT", s->out, 1);
	setenv("TENON_HIL_TARGET", s->target->folder, 1);
	setenv("TENON_HIL_NAME", s->target->name, 1);
}

static void prepare_board(struct session *s, const struct stop *stop)
{
	uint64_t now = clock_now();

	s->board = (struct board){
		.target = s->target,
		.out = s->out,
		.work = s->work,
		.stop = stop,
		.until = now + (uint64_t)s->deadline * SECOND,
	};
	snprintf(s->board.nonce, sizeof(s->board.nonce), "%08x%08x", (unsigned int)getpid(),
		 (unsigned int)(now ^ now >> 32));
	export_names(s);
}

int hil_session_run(struct session *s, const struct stop *stop)
{
	uint64_t begin = clock_now();

	prepare_board(s, stop);
	for (size_t i = 1; i < s->count; i++)
		suite_result_set(&s->suites[i].result, VERDICT_ERROR,
				 "the run ended before this suite");
	add_facts_of_host(s);
	s->state = bring_up(s);
	explain_end(s, s->state);
	conclude_board(s);
	s->suites[0].result.seconds = (double)(clock_now() - begin) / 1e9;
	run_suites(s);
	say(s, "hil: stopping %s", s->target->name);
	hil_board_stop(&s->board);
	if (report_write(s)) {
		fputs("tenon: ", stderr);
		printable_print(tenon_error_message(), stderr);
		fputc('\n', stderr);
		return CLI_NO_FILE;
	}
	return hil_session_code(s);
}

void hil_session_rescue(struct session *s, const struct stop *stop)
{
	prepare_board(s, stop);
	s->board.started = true;
	hil_board_stop(&s->board);
}

/* ---- the exit code */

static size_t count_suites(const struct session *s, enum verdict verdict)
{
	size_t count = 0;

	for (size_t i = 0; i < s->count; i++)
		count += s->suites[i].result.verdict == verdict;
	return count;
}

int hil_session_code(const struct session *s)
{
	if (count_suites(s, VERDICT_FAIL) || count_suites(s, VERDICT_TIMEOUT))
		return CLI_DIFFERS;
	if (s->state == BOARD_OVERDUE)
		return CLI_TIMEOUT;
	if (s->state == BOARD_UNABLE)
		return CLI_UNAVAILABLE;
	if (s->state != BOARD_OK || count_suites(s, VERDICT_ERROR))
		return CLI_BROKEN;
	/* The board itself is the first suite. */
	if (count_suites(s, VERDICT_UNABLE) || (s->count > 1 && count_suites(s, VERDICT_PASS) < 2))
		return CLI_UNAVAILABLE;
	return CLI_OK;
}

void hil_session_fini(struct session *s)
{
	for (size_t i = 0; i < s->count; i++) {
		suite_result_fini(&s->suites[i].result);
		free(s->suites[i].path);
	}
	free(s->suites);
	tenon_buffer_fini(&s->facts);
}
