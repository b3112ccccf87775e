/* SPDX-License-Identifier: MIT */
/*
 * Command lines of all verbs, run once for each allocation they make, with that allocation failing. A run
 * that exits as the undisturbed one has written just what that one wrote. Any other run exits with a code
 * for failures and names memory on standard error. None crashes, hangs or loses memory.
 *
 * Each run is a child of its own, so that what is made once in a process is made in it; a second pass
 * repeats them all in one process, where what is not given back adds up.
 */
#include "tests/unit/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/fuzz/random.h"
#include "tests/nomem/failing_malloc.h"
#include "tools/commands.h"

#ifdef CONFIG_NPZ
#include <zip.h>
#endif

#define D18 "tests/interop/data/tvm-0.18/"
#define D27 "tests/interop/data/tvm-0.27.0.post1/"
#define FFI "tests/interop/data/tvm-ffi-0.1.15.post2/"

#define GRAPH D18 "graph_mlp/graph.so"
#define APART                                                                                      \
	D18 "graph_mlp/lib.so --graph " D18 "graph_mlp/graph.json --params " D18                   \
	    "graph_mlp/model.params"
#define MLP_INPUT " --input @" D18 "graph_mlp/in_x.npy"
#define PARAMS	  D18 "params_file/all.params"
#define VECADD                                                                                     \
	D18 "host_vecadd/lib.so --function vecadd --input @" D18                                   \
	    "host_vecadd/c0_in0.npy --input @" D18 "host_vecadd/c0_in1.npy --output 1024xfloat32"
#define ADD4                                                                                       \
	D27 "host_several/lib.so --function add_4 --input @" D27                                   \
	    "host_several/c0_in0.npy --input @" D27 "host_several/c0_in1.npy"
#define WORDS  "tests/llm/data/bytes/model.so"
#define SIGNED D18 "host_vecadd/lib.so"
#define PAIR   D27 "model_two_outputs/r0_"

#define KERNELS D18 "opencl_multi/lib.so"

#define REFUSED (-1)

struct line {
	int code; /* of the run that nothing disturbs; REFUSED: any failure */
	const char *words;
};

/* Command lines, words between blanks. @TMP is the folder of this suite, @FILE the file the line writes. */
static const struct line lines[] = {
	{ CLI_OK, "help" },
	{ CLI_OK, "--version" },
	{ CLI_OK, "help run" },
	{ REFUSED, "nonsense" },
	{ REFUSED, "run --nonsense" },

	{ CLI_OK, "inspect " GRAPH },
	{ CLI_OK, "inspect " GRAPH " --functions" },
	{ CLI_OK, "inspect " GRAPH " --model" },
	{ CLI_OK, "inspect " GRAPH " --dot" },
	{ CLI_OK, "inspect " GRAPH " --dot --model" },
	{ CLI_OK, "inspect " GRAPH " --json --functions" },
	{ CLI_OK, "inspect " GRAPH " --json --model" },
	{ CLI_OK, "inspect " APART },
	{ CLI_OK, "inspect " D18 "aot_mlp/aot_packed.so --json" },
	{ CLI_OK, "inspect " D18 "opencl_multi/lib.so --functions" },
	{ CLI_OK, "inspect " D18 "opencl_multi/lib.so --json --functions" },
	{ CLI_OK, "inspect " D18 "cuda_vecadd/lib.so --json" },
	{ CLI_OK, "inspect " D18 "vulkan_multi/lib.so --functions" },
	{ CLI_OK, "inspect " D18 "dev_source_only/metal.so --functions" },
	{ CLI_OK, "inspect " D18 "relax_mlp/vm.so --model" },
	{ CLI_OK, "inspect " D18 "relax_mlp/vm.so --json --model" },
	{ CLI_OK, "inspect " D27 "model_branch/model.so --dot --model" },
	{ CLI_OK, "inspect " D27 "model_mlp/model.so" },
	{ CLI_OK, "inspect " D27 "tree_nested/lib.so --json" },
	{ CLI_OK, "inspect " FFI "cpp_metadata/lib.so --functions" },
	{ CLI_OK, "inspect " FFI "cpp_metadata/lib.so --json" },
	{ REFUSED, "inspect " D18 "graph_mlp/in_x.npy" },

	{ CLI_OK, "verify " GRAPH },
	{ CLI_OK, "verify --cpu " GRAPH },
	{ CLI_OK, "verify " D27 "tree_nested/lib.so --json" },
	{ REFUSED, "verify " D18 "graph_mlp/in_x.npy --json" },
	{ CLI_OK, "unpack " D18 "opencl_vecadd/lib.so @TMP/parts" },
	{ CLI_OK, "link -o @FILE @TMP/parts/manifest.json" },
	{ REFUSED, "link -o @FILE examples/link/vecadd.c two.c=nonsense@key" },

#ifdef CONFIG_MBEDTLS
	{ CLI_OK, "sign --key @TMP/key.pem -o @FILE " SIGNED },
	{ CLI_OK, "verify --key @TMP/public.pem --signature @TMP/signature " SIGNED },
#endif

	{ CLI_OK, "params list " PARAMS },
	{ CLI_OK, "params list " PARAMS " --json" },
	{ CLI_OK, "params align " PARAMS " @FILE" },
	{ CLI_OK, "params extract " PARAMS " i64 -o @TMP/out" },
	{ REFUSED, "params extract " PARAMS " nonsense -o @TMP/out" },
	{ CLI_OK,
	  "params from-npy " D18 "params_file/p_f32.npy b=" D18 "params_file/p_i8.npy @FILE" },
#ifdef CONFIG_NPZ
	{ CLI_OK, "params from-npz @TMP/arrays.npz @FILE" },
#endif

	{ CLI_OK, "run " VECADD " --expect @" D18 "host_vecadd/c0_out2.npy --top 3 --timeout 60" },
	{ CLI_OK, "run " D27 "host_parallel_sum/lib.so --function rowsum --input @" D27
		  "host_parallel_sum/c0_in0.npy --output 64xfloat32" },
	{ CLI_DIFFERS, "run " VECADD " --expect @" D18 "host_vecadd/c0_in0.npy --device cpu:0" },
	{ CLI_OK, "run " ADD4 " --output 4xfloat32=>@FILE --json" },
	{ REFUSED, "run " D27 "host_several/lib.so --function ad_4" },
	{ REFUSED, "run " D27 "host_several/lib.so" },
	{ CLI_OK,
	  "run " GRAPH MLP_INPUT " --expect @" D18 "graph_mlp/out0.npy --profile --trace @FILE" },
	{ CLI_OK, "run " GRAPH MLP_INPUT " --json --profile --repeat 2" },
	{ CLI_OK, "run " APART MLP_INPUT " --top 2" },
	{ CLI_OK, "run " GRAPH " --stream" },
	{ REFUSED, "run " GRAPH MLP_INPUT " --device opencl:0" },
	{ CLI_OK, "run " D18 "aot_mlp/aot_packed.so" MLP_INPUT " --json" },
	{ CLI_OK, "run " D18 "aot_mlp/aot_chost.so" MLP_INPUT },
	{ CLI_OK, "run " D18 "relax_mlp/vm.so --input @" D18 "relax_mlp/n1_in_x.npy --profile" },
	{ CLI_OK, "run " D27 "model_mlp/model.so --function forward --input x=@" D27
		  "model_mlp/r0_x.npy --expect @" D27 "model_mlp/r0_out0.npy --json" },
	{ REFUSED, "run " D27 "model_mlp/model.so --function backward" },
	{ CLI_OK, "run " D27 "model_two_outputs/model.so --input pair.0=@" PAIR
		  "pair.0.npy --input pair.1=@" PAIR "pair.1.npy --input z=@" PAIR "z.npy" },
	{ REFUSED, "run " FFI "cpp_arrays/lib.so --function nonsense" },

	{ CLI_OK, "bench " GRAPH " --runs 2 --warmup 1 --per-op" },
	{ CLI_OK, "bench " GRAPH " --runs 2 --warmup 0 --per-op --json" },
	{ CLI_OK, "bench " D27 "model_mlp/model.so --function forward --runs 2" },

	{ CLI_OK, "run " GRAPH " --memory" },
	{ CLI_OK, "inspect " KERNELS " --show 1" },
	{ CLI_OK, "needs " GRAPH },
	{ CLI_OK, "needs " GRAPH " " KERNELS " --json" },
	{ CLI_OK, "needs --kconfig " GRAPH },
	{ CLI_OK, "partition tests/partition/net.json -o @TMP/regions" },
	{ CLI_OK, "partition tests/partition/int.json -o @TMP/regions" },
	{ REFUSED, "partition README.md -o @TMP/regions" },
	{ CLI_OK, "warm " KERNELS " --device null:0" },
	{ CLI_OK, "warm " GRAPH " --device cpu:0 --json" },
	{ CLI_OK, "params convert " PARAMS " --rename i8=other @FILE" },
	{ REFUSED, "link -o @FILE README.md=opencl examples/link/vecadd.c" },
#ifdef CONFIG_PICTURES
	{ CLI_OK, "report " GRAPH " -o @FILE" },
	{ CLI_OK, "inspect " GRAPH " --svg" },
	{ CLI_OK, "bench " GRAPH " --runs 2 --warmup 0 --svg" },
#endif
#ifdef CONFIG_RECORD
	{ CLI_OK, "replay @TMP/record --device cpu:0" },
	{ CLI_OK, "replay @TMP/record --compare cpu:0 cpu:0 --json" },
#endif
#ifdef CONFIG_HIL
	{ REFUSED, "hil run --target hil/here.json nonsense" },
	{ REFUSED, "hil run --target README.md" },
#endif
#ifdef CONFIG_REMOTE
	{ REFUSED, "rpc ping 127.0.0.1:1" },
	{ REFUSED, "rpc tracker status 127.0.0.1:1 --json" },
	{ REFUSED, "rpc serve --listen nonsense --key a --tracker 127.0.0.1:1" },
	{ REFUSED, "rpc proxy --listen nonsense --tracker 127.0.0.1:1" },
	{ REFUSED, "devices --remote 127.0.0.1:1" },
#endif

	{ REFUSED, "doctor --board mortise://uio/0 --root @TMP" },
	{ REFUSED, "device program fpga0 README.md --root @TMP" },
	{ REFUSED, "device" },
	{ REFUSED, "device reset nonsense://x" },
	{ REFUSED, "device reset cpu" },
	{ CLI_OK, "devices" },
	{ CLI_OK, "devices --json" },
	{ CLI_OK, "doctor" },
	{ CLI_OK, "doctor --json" },

#ifdef CONFIG_LLM
	{ CLI_OK, "chat " WORDS " --message hello --max-tokens 2" },
	{ CLI_OK, "chat " WORDS " --tokens 104,105 --max-tokens 2 --json" },
#endif
#ifdef CONFIG_LLM_TOKENIZER
	{ CLI_OK, "chat " WORDS " --weights @TMP/words --message x<x>abx --max-tokens 2 --quiet" },
#endif
};

#define LINES	  (sizeof(lines) / sizeof(lines[0]))
#define WORDS_MAX 32
#define TEXT_MAX  (256 * 1024)

static char folder[256], file_path[300];
static const char *folder_text;

/* ---- the clock stands still, so that times are the same in all runs */

static bool clock_stands;

#ifdef __GLIBC__
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *t)
{
	if (clock_stands && clock == CLOCK_MONOTONIC && getpid() == (pid_t)syscall(SYS_gettid)) {
		*t = (struct timespec){ 1000000, 0 };
		return 0;
	}
	return (int)syscall(SYS_clock_gettime, clock, t);
}
#endif

/* what is written here need not survive a power failure */
__attribute__((visibility("default"))) int fsync(int fd)
{
	(void)fd;
	return 0;
}

/* ---- one run */

/* what a run left, in memory shared with its child */
struct outcome {
	volatile long requests;
	volatile int code;
	size_t out_size, err_size, file_size;
	char out[TEXT_MAX], err[TEXT_MAX], file[TEXT_MAX];
};

static struct outcome *want, *got;
static int out_fd, err_fd;

struct words {
	int count;
	char *word[WORDS_MAX + 1];
	char text[4096];
};

static void put(struct words *w, size_t *used, const char *text, size_t size)
{
	assert_true(*used + size < sizeof(w->text));
	memcpy(w->text + *used, text, size);
	*used += size;
}

static void split(const char *line, struct words *w)
{
	size_t used = 0;

	/* a second thread for the line that is about threads alone: starting one takes its time */
	setenv("TENON_NUM_THREADS", strstr(line, "parallel") ? "2" : "1", 1);
	w->count = 0;
	w->word[w->count++] = "tenon";
	while (*line) {
		size_t size = strcspn(line, " ");
		const char *end = line + size;

		assert_true(w->count < WORDS_MAX);
		w->word[w->count++] = w->text + used;
		while (line < end) {
			if (!strncmp(line, "@TMP", 4)) {
				put(w, &used, folder, strlen(folder));
				line += 4;
			} else if (!strncmp(line, "@FILE", 5)) {
				put(w, &used, file_path, strlen(file_path));
				line += 5;
			} else {
				put(w, &used, line++, 1);
			}
		}
		put(w, &used, "", 1);
		line += *line == ' ';
	}
	w->word[w->count] = NULL;
}

/* The command reads frames from here where it takes a stream. */
static void put_frames(void)
{
	static const float frame[256];
	int fd = memfd_create("frames", MFD_CLOEXEC);

	/* graph_mlp's input has 32 elements; two frames */
	assert_true(fd >= 0);
	assert_int_equal(write(fd, frame, sizeof(frame)), sizeof(frame));
	lseek(fd, 0, SEEK_SET);
	dup2(fd, STDIN_FILENO);
	close(fd);
}

/* getopt() puts words in another order: each run has its own */
static int run_words(const struct words *line, long fails_at, long *requests)
{
	static char out_room[TEXT_MAX], err_room[TEXT_MAX];
	struct words w = *line;
	FILE *out = fdopen(dup(out_fd), "w"), *err = fdopen(dup(err_fd), "w");
	int code;

	setvbuf(out, out_room, _IOFBF, sizeof(out_room));
	setvbuf(err, err_room, _IOFBF, sizeof(err_room));
	clock_stands = true;
	failing_malloc_start(fails_at);
	code = cli_main(w.count, w.word, out, err);
	*requests = failing_malloc_stop();
	clock_stands = false;
	fclose(out);
	fclose(err);
	return code;
}

static size_t take(int fd, char *text)
{
	ssize_t n = pread(fd, text, TEXT_MAX - 1, 0);

	assert_true(n >= 0 && n < TEXT_MAX - 1);
	text[n] = '\0';
	return (size_t)n;
}

static void leave_out(struct outcome *o, char *at, size_t length)
{
	memmove(at, at + length, o->file_size - (size_t)(at - o->file) - length);
	o->file_size -= length;
}

static char *find(const struct outcome *o, char *from, const char *text)
{
	return memmem(from, o->file_size - (size_t)(from - o->file), text, strlen(text));
}

/* A trace has the number of the thread and the memory of the process: each run has a process for itself. */
static void leave_out_process(struct outcome *o, pid_t process)
{
	static const char bytes[] = "\"bytes\":";
	char number[24], *at = o->file;

	snprintf(number, sizeof(number), "%d", process);
	while ((at = find(o, at, number)))
		leave_out(o, at, strlen(number));
	for (at = o->file; (at = find(o, at, bytes));) {
		at += strlen(bytes);
		leave_out(o, at, strspn(at, "0123456789"));
	}
}

static void take_file(struct outcome *o, pid_t process)
{
	int fd = open(file_path, O_RDONLY);

	o->file_size = fd < 0 ? SIZE_MAX : take(fd, o->file);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && o->file[0] == '{')
		leave_out_process(o, process);
}

/* "tenon chat" prints the memory of its process, which depends on the allocator. */
static size_t leave_out_memory(size_t size, char *text)
{
	static const char *const names[] = { "\"process\":", "process " };
	size_t i, n;
	char *at;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		at = strstr(text, names[i]);
		if (!at)
			continue;
		at += strlen(names[i]);
		n = strspn(at, "0123456789.");
		memmove(at, at + n, size - (size_t)(at - text) - n + 1);
		size -= n;
	}
	return size;
}

static void forget(void)
{
	assert_int_equal(ftruncate(out_fd, 0), 0);
	assert_int_equal(ftruncate(err_fd, 0), 0);
	lseek(out_fd, 0, SEEK_SET);
	lseek(err_fd, 0, SEEK_SET);
	unlink(file_path);
}

/* Runs a line in a child; false with a reason printed when it did not come to an end of its own. */
static bool run_once(const struct words *w, long fails_at, struct outcome *o)
{
	long requests;
	int status;
	pid_t child;

	forget();
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		alarm(120);
		put_frames();
		o->code = run_words(w, fails_at, &requests);
		o->requests = requests;
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	o->out_size = leave_out_memory(take(out_fd, o->out), o->out);
	o->err_size = leave_out_memory(take(err_fd, o->err), o->err);
	take_file(o, child);
	if (!WIFSIGNALED(status) && !WEXITSTATUS(status))
		return true;
	print_error("allocation %ld: %s %d\n%s", fails_at, WIFSIGNALED(status) ? "signal" : "exit",
		    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), o->err);
	return false;
}

/* ---- what is asked of it */

static bool same(size_t size, const char *text, size_t size2, const char *text2)
{
	return size == size2 && (size == SIZE_MAX || !memcmp(text, text2, size));
}

static bool is_honest(long n)
{
	bool whole = same(got->out_size, got->out, want->out_size, want->out) &&
		     same(got->file_size, got->file, want->file_size, want->file);

	if (got->code == want->code && whole &&
	    same(got->err_size, got->err, want->err_size, want->err))
		return true;
	if ((got->code == CLI_NO_FILE || got->code == CLI_UNAVAILABLE || got->code == CLI_FAILED) &&
	    (strstr(got->err, "memory") || strstr(got->err, "thread")))
		return true;
	print_error("allocation %ld: exit %d with %s answer, and says: %s\n", n, got->code,
		    whole ? "the whole" : "another", *got->err ? got->err : "nothing");
	return false;
}

/* Does the run leave blocks behind, and again each time it is repeated? */
static bool loses_memory(const struct words *w, long n)
{
	long live, requests;
	int i;

	for (i = 0; i < 4; i++) {
		live = failing_malloc_live();
		put_frames();
		run_words(w, n, &requests);
		if (failing_malloc_live() <= live)
			return false;
	}
	return true;
}

static int leaks_of(const struct words *w)
{
	long n, requests = 0;
	int leaks = 0;

	put_frames();
	run_words(w, 0, &requests);
	put_frames();
	run_words(w, 0, &requests);
	for (n = 1; n <= requests; n += failing_malloc_step()) {
		forget();
		if (!loses_memory(w, n))
			continue;
		fprintf(stderr, "allocation %ld of a process that ran before: leaks\n", n);
		leaks++;
	}
	return leaks;
}

static bool leaks(const struct words *w)
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		alarm(60);
		_exit(leaks_of(w) ? 1 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFSIGNALED(status))
		print_error("signal %d in a process that ran before\n", WTERMSIG(status));
	return status != 0;
}

static void a_run_without_memory_is_no_success(void **state)
{
	const struct line *line = *state;
	int wrong = 0;
	struct words w;
	long n;

	if (!failing_malloc_works()) {
		print_message("no stand-in for the allocator here\n");
		skip();
	}
	split(line->words, &w);
	assert_true(run_once(&w, 0, want));
	if (line->code == REFUSED ? want->code <= CLI_DIFFERS : want->code != line->code)
		fail_msg("exit %d: %s%s", want->code, want->out, want->err);
	for (n = 1; n <= want->requests; n += failing_malloc_step())
		wrong += !run_once(&w, n, got) || !is_honest(n);
	print_message("# %ld allocations, one at a time\n", want->requests);
	/* libzip 1.7 itself loses a block where a file in an archive cannot be opened */
	if (!strstr(line->words, "from-npz"))
		wrong += leaks(&w);
	if (wrong)
		print_error("%d of %ld allocations: %s\n", wrong, want->requests, line->words);
	assert_int_equal(wrong, 0);
}

/* Its answer goes to a full disk: a message says so, and the exit code. */
static void an_answer_that_cannot_be_written_is_no_success(void **state)
{
	const struct line *line = *state;
	FILE *full, *err;
	struct words w;
	int code;

	split(line->words, &w);
	assert_true(run_once(&w, 0, want));
	if (!want->out_size || want->code == CLI_USAGE)
		return;
	forget();
	put_frames();
	full = fopen("/dev/full", "w");
	err = fdopen(dup(err_fd), "w");
	assert_true(full && err);
	code = cli_main(w.count, w.word, full, err);
	fclose(full);
	fclose(err);
	got->err_size = take(err_fd, got->err);
	if (code == CLI_OK || code == CLI_DIFFERS || !strstr(got->err, strerror(ENOSPC)))
		fail_msg("exit %d: %s: %s", code, line->words, got->err);
}

/* ---- several allocations, by chance */

static bool survives(const struct line *line, struct random *r)
{
	struct words w;
	bool good;

	failing_malloc_often(0, 0);
	split(line->words, &w);
	if (!run_once(&w, 0, want))
		return false;
	failing_malloc_often(random_next(r), 2 + random_below(r, 1 + (uint64_t)want->requests));
	good = run_once(&w, 0, got) && is_honest(0);
	if (!good)
		print_error("several allocations: %s\n", line->words);
	return good;
}

static int run_at_random(uint64_t seed, uint64_t first, uint64_t count)
{
	uint64_t i, wrong = 0;

	for (i = first; i < first + count; i++) {
		struct random mix = { seed ^ (i << 20) }, r = { random_next(&mix) };

		wrong += !survives(&lines[i % LINES], &r);
	}
	return wrong != 0;
}

/* ---- the suite */

#ifdef CONFIG_NPZ
static void make_arrays(void)
{
	char path[300];
	zip_t *zip;

	snprintf(path, sizeof(path), "%s/arrays.npz", folder);
	zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
	assert_non_null(zip);
	assert_true(zip_file_add(zip, "a.npy",
				 zip_source_file(zip, D18 "params_file/p_f32.npy", 0, -1), 0) >= 0);
	assert_int_equal(zip_close(zip), 0);
}
#else
static void make_arrays(void)
{
}
#endif

#ifdef CONFIG_RECORD
/* a record to repeat */
static int make_record(void)
{
	struct words w;
	long requests;

	split("run " GRAPH MLP_INPUT " --record @TMP/record", &w);
	return run_words(&w, 0, &requests) != CLI_OK;
}
#else
static int make_record(void)
{
	return 0;
}
#endif

/* doctor asks emulators for their versions, once for each allocation that fails: let that be quick */
static int make_quick_emulator(void)
{
	char path[sizeof(folder) + 32];

	snprintf(path, sizeof(path), "%s/qemu-system-riscv64", folder);
	return symlink("/bin/true", path) || setenv("PATH", folder, 1);
}

#ifdef CONFIG_MBEDTLS
static int make_keys(void)
{
	char command[1200];

	snprintf(command, sizeof(command),
		 "cd %s && umask 077 && openssl genrsa -out key.pem 2048 2>log && "
		 "openssl rsa -in key.pem -pubout -out public.pem 2>log && "
		 "openssl dgst -sha256 -sign key.pem -out signature \"$OLDPWD\"/" SIGNED,
		 folder);
	return system(command);
}
#else
static int make_keys(void)
{
	return 0;
}
#endif

#ifdef CONFIG_LLM_TOKENIZER
/* The folder of a model with a tokenizer, whose file has each sort of step. */
static int make_tokenizer(void)
{
	static const char *const files[] = { "mlc-chat-config.json", "params_shard_0.bin",
					     "params_shard_1.bin", "tensor-cache.json" };
	static const char tokenizer[] =
		"{\"added_tokens\":[{\"id\":2,\"content\":\"<x>\",\"lstrip\":true,\"single_word\":"
		"true,"
		"\"special\":true},{\"id\":3,\"content\":\"ab\",\"normalized\":true,\"special\":"
		"true}],"
		"\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Prepend\","
		"\"prepend\":"
		"\"x\"},{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"b+\"},\"content\":\"\"}]},"
		"\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\","
		"\"pattern\":"
		"{\"String\":\"x\"},\"behavior\":\"MergedWithNext\"},{\"type\":\"Metaspace\"}]},"
		"\"model\":{\"type\":\"BPE\",\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"x\":1,"
		"\"\\u2581\":4,"
		"\"\\u2581x\":5},\"merges\":[\"\\u2581 x\"]}}";
	char path[400], from[PATH_MAX];
	size_t i;
	FILE *f;

	snprintf(path, sizeof(path), "%s/words", folder);
	if (mkdir(path, 0700))
		return 1;
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (!realpath("tests/llm/data/bytes", from))
			return 1;
		snprintf(from + strlen(from), sizeof(from) - strlen(from), "/%s", files[i]);
		snprintf(path, sizeof(path), "%s/words/%s", folder, files[i]);
		if (symlink(from, path))
			return 1;
	}
	snprintf(path, sizeof(path), "%s/words/tokenizer.json", folder);
	f = fopen(path, "w");
	return !f || fputs(tokenizer, f) < 0 || fclose(f);
}
#else
static int make_tokenizer(void)
{
	return 0;
}
#endif

static int make_ready(void **state)
{
	const size_t room = sizeof(struct outcome);

	(void)state;
	folder_text = getenv("TMPDIR");
	snprintf(folder, sizeof(folder), "%s/nomem-XXXXXX", folder_text ? folder_text : "/tmp");
	if (!mkdtemp(folder))
		return 1;
	snprintf(file_path, sizeof(file_path), "%s/file", folder);
	setenv("TENON_CACHE_DIR", folder, 1);
	setenv("TENON_OPENCL_LIBRARY", "/nonexistent", 1);
	setenv("TENON_VULKAN_LIBRARY", "/nonexistent", 1);
	setenv("TENON_CUDA_LIBRARY", "/nonexistent", 1);
	setenv("TENON_NVRTC_LIBRARY", "/nonexistent", 1);
	/* the emulator takes PATH away */
	if (make_keys() || make_quick_emulator() || make_tokenizer())
		return 1;
	want = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	got = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	out_fd = memfd_create("out", MFD_CLOEXEC);
	err_fd = memfd_create("err", MFD_CLOEXEC);
	if (want == MAP_FAILED || got == MAP_FAILED || out_fd < 0 || err_fd < 0)
		return 1;
	make_arrays();
	return make_record();
}

/* --random SEED FIRST COUNT: so many lines, beginning with that one, each with allocations that fail by chance */
int main(int argc, char **argv)
{
	static char names[2 * LINES][200];
	struct CMUnitTest tests[2 * LINES];
	size_t i;

	if (argc == 5 && !strcmp(argv[1], "--random"))
		return make_ready(NULL) ||
		       run_at_random(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10),
				     strtoull(argv[4], NULL, 10));
	for (i = 0; i < LINES; i++) {
		void *line = (void *)(uintptr_t)&lines[i];

		snprintf(names[i], sizeof(names[i]), "memory_%zu_%.150s", i, lines[i].words);
		tests[i] = (struct CMUnitTest){ names[i], a_run_without_memory_is_no_success, NULL,
						NULL, line };
		snprintf(names[LINES + i], sizeof(names[0]), "disk_%zu_%.150s", i, lines[i].words);
		tests[LINES + i] =
			(struct CMUnitTest){ names[LINES + i],
					     an_answer_that_cannot_be_written_is_no_success, NULL,
					     NULL, line };
	}
	return _cmocka_run_group_tests("command", tests, 2 * LINES, make_ready, NULL);
}
