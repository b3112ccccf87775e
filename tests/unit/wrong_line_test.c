/* SPDX-License-Identifier: MIT */
/*
 * Command lines of all verbs that ask for what cannot be: options that exclude or need each other, too many of one, files of another kind,
 * devices, addresses and names that do not exist. Each is refused with its exit status and a message that holds the given words.
 */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_run.h"

#define WORDS_MAX 256

#define D18	"tests/interop/data/tvm-0.18/"
#define D27	"tests/interop/data/tvm-0.27.0.post1/"
#define GRAPH	D18 "graph_mlp/graph.so"
#define MLF	D18 "graph_mlp/mlf_graph_c.tar"
#define NPY	D18 "graph_mlp/in_x.npy"
#define LIB	D27 "host_vecadd/lib.so"
#define SEVERAL D27 "host_several/lib.so"
#define RELAX	D27 "model_mlp/model.so"
#define WORDS	"tests/llm/data/bytes/model.so"
#define PARAMS	D18 "params_file/all.params"
#define KERNELS D18 "opencl_multi/lib.so"
#define JSON	"tests/partition/net.json"
#define TEXT	"README.md"
#define NONE	"/no/such/file"

/*
 * @line: words between blanks; @N*WORD repeats the option before it, with that word
 * @words: are in the message
 */
struct line {
	int code;
	const char *words;
	const char *line;
};

/* refused before any code of a module runs */
static const struct line lines[] = {
	{ CLI_USAGE, "--function and --graph", "run " GRAPH " --function main --graph x" },
	{ CLI_USAGE, "--verify and --remote", "run " GRAPH " --verify --remote 127.0.0.1:1" },
	{ CLI_USAGE, "--record and --remote", "run " GRAPH " --record x --remote 127.0.0.1:1" },
	{ CLI_USAGE, "--record and --trace", "run " GRAPH " --record x --trace y" },
	{ CLI_USAGE, "--top and --json", "run " GRAPH " --top 3 --json" },
	{ CLI_USAGE, "--labels and --json", "run " GRAPH " --labels " TEXT " --json" },
	{ CLI_USAGE, "--reference goes with --self-test", "run " GRAPH " --reference " TEXT },
	{ CLI_USAGE, "--stream and --profile", "run " GRAPH " --stream --profile" },
	{ CLI_USAGE, "--stream and --json", "run " GRAPH " --stream --json" },
	{ CLI_USAGE, "want KEY=URI", "run " GRAPH " --target-key nonsense" },
	{ CLI_USAGE, "want KEY=URI", "run " GRAPH " --target-key =cpu:0" },
	{ CLI_USAGE, "no kind of device", "run " GRAPH " --target-key opencl=nonsense" },
	{ CLI_USAGE, "8 devices at most", "run " GRAPH " --device @9*cpu:0" },
	{ CLI_USAGE, "earlier --input", "run " GRAPH " --input x=3 --input x=4" },
	{ CLI_USAGE, "without contents", "run " GRAPH " --input 4xfloat32" },
	{ CLI_USAGE, "the shape has 4", "run " GRAPH " --input 4xfloat32=[1,2" },
	{ CLI_USAGE, "64 bits",
	  "run " GRAPH " --input 99999999999999x99999999999999xfloat32=zeros" },
	{ CLI_USAGE, "--input", "run " GRAPH " --input -3xfloat32=zeros" },
	{ CLI_USAGE, "seed of random", "run " GRAPH " --input float32=random:x" },
	{ CLI_USAGE, "nonsense", "run " GRAPH " --input 3xnonsense=ones" },
	{ CLI_USAGE, "float33", "run " GRAPH " --output 4xfloat33" },
	{ CLI_USAGE, "FILE or SCOPE=FILE", "run " GRAPH " --params =x" },
	{ CLI_USAGE, "FILE or SCOPE=FILE", "run " GRAPH " --params a=" },
	{ CLI_USAGE, "16 files at most", "run " GRAPH " --params @17*" TEXT },
	{ CLI_USAGE, "OLD=NEW", "run " GRAPH " --rename a" },
	{ CLI_USAGE, "OLD=NEW", "run " GRAPH " --rename =b" },
	{ CLI_USAGE, "--rename without --params", "run " GRAPH " --rename a=b" },
	{ CLI_USAGE, "--params-partial without --params", "run " GRAPH " --params-partial" },
	{ CLI_USAGE, "--dequantize without --params", "run " GRAPH " --dequantize float16" },
	{ CLI_NO_FILE, NONE, "run " NONE },
	{ CLI_NO_FILE, "is a directory", "run tests" },
	{ CLI_NO_FILE, "not a regular file", "run /dev/null" },
	{ CLI_UNAVAILABLE, "no loader for files named .md", "run " TEXT },
	{ CLI_NO_FILE, "no manifest", "run " JSON },
	{ CLI_USAGE, "--function and --graph", "inspect " GRAPH " --function a --graph b" },
	{ CLI_USAGE, "one form at a time", "inspect " GRAPH " --json --svg" },
	{ CLI_USAGE, "goes with no other option", "inspect " GRAPH " --show main --json" },
	{ CLI_USAGE, "--disassemble", "inspect " TEXT " --disassemble" },
	{ CLI_NO_FILE, "not an ELF file", "inspect " TEXT },
	{ CLI_NO_FILE, "is a directory", "inspect tests" },
	{ CLI_NO_FILE, "not a regular file", "inspect /dev/null" },
	{ CLI_NO_FILE, "TVM parameters", "inspect " PARAMS },
	{ CLI_NO_FILE, "no manifest", "inspect " JSON },
	{ CLI_USAGE, "only --json and --disassemble",
	  "inspect tests/ethosu/data/small/mean.tflite --dot" },
	{ CLI_USAGE, "listed as it is", "inspect " MLF " --dot" },
	{ CLI_NO_FILE, "no file has this path", "inspect " MLF " --show nonsense" },
	{ CLI_USAGE, "--repeat 0", "bench " GRAPH " --repeat 0" },
	{ CLI_USAGE, "--warmup -1", "bench " GRAPH " --warmup -1" },
	{ CLI_USAGE, "not both", "bench " GRAPH " --svg --json" },
	{ CLI_USAGE, "which model", "bench" },
	{ CLI_USAGE, "no address", "bench " GRAPH " --remote nonsense" },
	{ CLI_UNAVAILABLE, "cannot connect", "bench " GRAPH " --remote 127.0.0.1:1" },
	{ CLI_USAGE, "up to 65535", "bench " GRAPH " --remote 127.0.0.1:99999" },
	{ CLI_USAGE, "names no host", "bench " GRAPH " --remote :1" },
	{ CLI_USAGE, "which page", "report " GRAPH },
	{ CLI_USAGE, "--function and --graph",
	  "report " GRAPH " -o " NONE " --function a --graph b" },
	{ CLI_USAGE, "more than 8 times", "report " GRAPH " -o " NONE " --device @9*cpu:0" },
	{ CLI_USAGE, "more than 3 times", "report " GRAPH " -o " NONE " --compare @9*cpu:0" },
	{ CLI_NO_FILE, NONE, "report " GRAPH " -o x.html --baseline " NONE },
	{ CLI_NO_FILE, "not JSON", "report " GRAPH " -o x.html --baseline " TEXT },
	{ CLI_NO_FILE, "tenon bench --json", "report " GRAPH " -o x.html --baseline " JSON },
	{ CLI_NO_FILE, "not an ELF file", "report " TEXT " -o x.html" },
	{ CLI_NO_FILE, "the output would replace", "report " GRAPH " -o " GRAPH },
	{ CLI_USAGE, "what to do", "params" },
	{ CLI_USAGE, "is none of", "params nonsense" },
	{ CLI_USAGE, "which file", "params list" },
	{ CLI_USAGE, "2 files given", "params list " PARAMS " " PARAMS },
	{ CLI_USAGE, "takes no --align", "params list " PARAMS " --align 64" },
	{ CLI_USAGE, "takes no --json", "params align " PARAMS " x --json" },
	{ CLI_USAGE, "power of two", "params align " PARAMS " x --align 3" },
	{ CLI_USAGE, "power of two", "params align " PARAMS " x --align 2097152" },
	{ CLI_USAGE, "NumPy", "params align " PARAMS " x.npy" },
	{ CLI_USAGE, "not a file of parameters", "params align " PARAMS " " TEXT },
	{ CLI_USAGE, "no alignment", "params convert " PARAMS " x.npz --align 64" },
	{ CLI_USAGE, "what to make of them", "params convert " PARAMS },
	{ CLI_USAGE, "what to make of them", "params from-npy " NPY },
	{ CLI_USAGE, "what to make of it", "params from-npz " TEXT },
	{ CLI_USAGE, "two arrays", "params from-npy " NPY " " NPY " x.params" },
	{ CLI_NO_FILE, "no array file of numpy", "params from-npy " TEXT " x.params" },
	{ CLI_NO_FILE, NONE, "params from-npy " NONE " x.params" },
	{ CLI_NO_FILE, "no whole zip file", "params from-npz " TEXT " x.params" },
	{ CLI_NO_FILE, NONE, "params from-npz " NONE " x.params" },
	{ CLI_NO_FILE, NONE, "params list " NONE },
	{ CLI_NO_FILE, "model.safetensors", "params list tests" },
	{ CLI_NO_FILE, "an ELF file", "params list " GRAPH },
	{ CLI_NO_FILE, "no parameter \"nonsense\"", "params extract " PARAMS " nonsense -o x" },
	{ CLI_NO_FILE, "cannot make this folder", "params extract " PARAMS " i64 -o " NONE },
	{ CLI_NO_FILE, "cannot write", "params align " PARAMS " " NONE },
	{ CLI_NO_FILE, "give one of", "params convert " PARAMS " " PARAMS " x.params" },
	{ CLI_NO_FILE, "to be renamed", "params convert " PARAMS " --rename nonsense=a x.params" },
	{ CLI_USAGE, "which file to write", "link " TEXT },
	{ CLI_USAGE, "no files to link", "link -o x.so" },
	{ CLI_USAGE, "not a source", "link -o x.so " TEXT },
	{ CLI_NO_FILE, NONE ".c", "link -o x.so " NONE ".c" },
	{ CLI_NO_FILE, NONE ".o", "link -o x.so " NONE ".o" },
	{ CLI_NO_FILE, NONE ".json", "link -o x.so " NONE ".json" },
	{ CLI_UNAVAILABLE, "no loader for modules", "link -o x.so x=nonsense" },
	{ CLI_NO_FILE, "not a program of kind", "link -o x.so " TEXT "=opencl" },
	{ CLI_USAGE, "FILE=KIND@KEY", "link -o x.so " TEXT "=opencl@" },
	{ CLI_USAGE, "FILE=KIND@KEY", "link -o x.so =opencl" },
	{ CLI_USAGE, "FILE=KIND@KEY", "link -o x.so " TEXT "=@k" },
	{ CLI_NO_FILE, "no manifest", "link -o x.so " JSON },
	{ CLI_USAGE, "linked already", "link -o x.so " GRAPH },
	{ CLI_USAGE, "PARENT:CHILD", "link -o x.so --import a a.c" },
	{ CLI_USAGE, "PARENT:CHILD", "link -o x.so --import :a a.c" },
	{ CLI_USAGE, "two files", "link -o x.so --case nonsense a.c" },
	{ CLI_USAGE, "--prefix without", "link -o x.so --prefix a-b a.c" },
	{ CLI_USAGE, "linked alone", "link -o x.so " MLF " " MLF },
	{ CLI_NO_FILE, "not a file of parameters",
	  "link -o x.so --params " TEXT " examples/link/vecadd.c" },
	{ CLI_NO_FILE, "--target-key a", "link -o x.so --target-key a=b examples/link/vecadd.c" },
	{ CLI_USAGE, "which folder", "partition " JSON },
	{ CLI_USAGE, "nonsense", "partition " JSON " -o " NONE " --for nonsense" },
	{ CLI_NO_FILE, "not JSON", "partition " TEXT " -o " NONE },
	{ CLI_NO_FILE, NONE, "partition " NONE " -o x" },
	{ CLI_NO_FILE, "cannot make the folder", "partition " JSON " -o " NONE },
	{ CLI_NO_FILE, NONE, "partition " JSON " -o x --params " NONE },
	{ CLI_NO_FILE, "no parameters of TVM", "partition " JSON " -o x --params " TEXT },
	{ CLI_USAGE, "which module", "unpack " GRAPH },
	{ CLI_USAGE, "which module", "unpack " GRAPH " a b" },
	{ CLI_NO_FILE, "not an ELF file", "unpack " TEXT " " NONE },
	{ CLI_NO_FILE, NONE, "unpack " NONE " x" },
	{ CLI_NO_FILE, "cannot make the folder", "unpack " GRAPH " " TEXT },
	{ CLI_NO_FILE, "cannot make the folder", "unpack " GRAPH " " NONE },
	{ CLI_USAGE, "unknown kind", "verify " GRAPH " --kind nonsense" },
	{ CLI_NO_FILE, "not a driver payload", "verify " GRAPH " --kind ethos-u" },
	{ CLI_NO_FILE, "no command stream", "verify " GRAPH " --kind rocket" },
	{ CLI_NO_FILE, "no executable", "verify " GRAPH " --kind torq" },
	{ CLI_USAGE, "not with --kind", "verify " GRAPH " --kind ethos-u --cpu" },
	{ CLI_USAGE, "N=BYTES", "verify " GRAPH " --kind ethos-u --region x" },
	{ CLI_USAGE, "more than", "verify " GRAPH " --kind ethos-u --region @40*0=1" },
	{ CLI_USAGE, "nonsense", "verify " GRAPH " --kind ethos-u --target nonsense" },
	{ CLI_USAGE, "--kernel 9", "verify " GRAPH " --kind ethos-u --kernel 9" },
	{ CLI_USAGE, "goes with --kind", "verify " GRAPH " --region 0=1" },
	{ CLI_USAGE, "--signature without --key", "verify " GRAPH " --signature x" },
	{ CLI_USAGE, "which files", "needs" },
	{ CLI_USAGE, "two forms", "needs --json --kconfig " GRAPH },
	{ CLI_NO_FILE, "not an ELF file", "needs " TEXT },
	{ CLI_NO_FILE, NONE, "needs " NONE },
	{ CLI_USAGE, "--key FILE is missing", "sign " GRAPH },
	{ CLI_USAGE, "on which device", "replay " TEXT },
	{ CLI_NO_FILE, "Not a directory", "replay " TEXT " --device cpu:0" },
	{ CLI_NO_FILE, "record.json", "replay " NONE " --device cpu:0" },
	{ CLI_NO_FILE, "record.json", "replay tests --compare cpu:0 cpu:0" },
	{ CLI_USAGE, "either --device", "replay tests --device cpu:0 --device cpu:0" },
	{ CLI_USAGE, "either --device", "replay tests --device cpu:0 --compare cpu:0 cpu:0" },
	{ CLI_USAGE, "want two devices", "replay tests --compare cpu:0" },
	{ CLI_USAGE, "more than 2 times", "replay tests --device cpu:0 --module @3*x" },
	{ CLI_USAGE, "an earlier one",
	  "replay tests --device cpu:0 --module cpu:0=a --module cpu:0=b" },
	{ CLI_USAGE, "no file or name", "devices x" },
	{ CLI_USAGE, "no address", "devices --remote nonsense" },
	{ CLI_UNAVAILABLE, "cannot connect", "devices --remote 127.0.0.1:1 --timeout 5" },
	{ CLI_USAGE, "what is to be done", "device" },
	{ CLI_USAGE, "no action", "device nonsense" },
	{ CLI_USAGE, "takes 1 operand", "device reset" },
	{ CLI_USAGE, "takes 1 operand", "device reset a b" },
	{ CLI_USAGE, "no kind of device", "device reset nonsense" },
	{ CLI_UNAVAILABLE, "cannot be reset", "device reset cpu:0" },
	{ CLI_USAGE, "on this machine alone", "device reset x --root /tmp" },
	{ CLI_USAGE, "--copy is an option", "device reset x --copy" },
	{ CLI_USAGE, "takes 2 operands", "device program fpga0" },
	{ CLI_UNAVAILABLE, "no FPGA manager", "device program fpga0 " TEXT " --root " NONE },
	{ CLI_USAGE, "takes 2 operands", "device apply-overlay x" },
	{ CLI_UNAVAILABLE, "no overlays", "device apply-overlay x " TEXT " --root " NONE },
	{ CLI_UNAVAILABLE, "cannot remove the overlay", "device remove-overlay x --root " NONE },
	{ CLI_USAGE, "takes 1 operand", "device remove-overlay" },
	{ CLI_USAGE, "for which device", "warm " TEXT },
	{ CLI_USAGE, "no kind of device", "warm " KERNELS " --device nonsense" },
	{ CLI_USAGE, "one device at a time", "warm " KERNELS " --device cpu:0 --device cpu:0" },
	{ CLI_USAGE, "1 to 256", "warm " KERNELS " --device cpu:0 --jobs 257" },
	{ CLI_USAGE, "only with --board", "doctor x" },
	{ CLI_USAGE, "exclude each other", "doctor --board --cdi" },
	{ CLI_USAGE, "--root: only", "doctor --root /tmp" },
	{ CLI_USAGE, "mortise://uio/N", "doctor --board nonsense" },
	{ CLI_USAGE, "what to do is missing", "rpc" },
	{ CLI_USAGE, "no action", "rpc nonsense" },
	{ CLI_USAGE, "options alone", "rpc serve x" },
	{ CLI_USAGE, "a key has no spaces", "rpc serve --key a\"b" },
	{ CLI_USAGE, "1 to 1000", "rpc serve --sessions 0" },
	{ CLI_USAGE, "Unix socket", "rpc serve --allow-socket nonsense" },
	{ CLI_USAGE, "belong together", "rpc serve --tls-certificate " NONE },
	{ CLI_USAGE, "without --no-sandbox", "rpc serve --no-sandbox --sandbox-learn" },
	{ CLI_USAGE, "without --no-sandbox", "rpc serve --no-sandbox --allow-socket /x" },
	{ CLI_USAGE, "without --no-sandbox", "rpc serve --no-sandbox --folder-in-memory" },
	{ CLI_USAGE, "are for --tracker", "rpc serve --health-check true" },
	{ CLI_USAGE, "are for --tracker", "rpc serve --advertise 127.0.0.1:1" },
	{ CLI_USAGE, "belong together", "rpc serve --tls-key " NONE },
	{ CLI_USAGE, "without colons", "rpc serve --tracker 127.0.0.1:1 --key a:b" },
	{ CLI_USAGE, "no user no-such", "rpc serve --allow-user no-such" },
	{ CLI_USAGE, "no group no-such", "rpc serve --allow-group no-such" },
	{ CLI_UNAVAILABLE, "/usr/no-such", "rpc serve --secret-file /usr/no-such" },
	{ CLI_USAGE, "--tracker needs a --key", "rpc serve --tracker 127.0.0.1:1" },
	{ CLI_USAGE, "no valid port", "rpc serve --advertise a:b" },
	{ CLI_USAGE, "no valid port", "rpc serve --advertise :" },
	{ CLI_USAGE, "--stdio serves one client", "rpc serve --stdio --listen 127.0.0.1:0" },
	{ CLI_USAGE, "more than", "rpc serve --allow-read @99*x" },
	{ CLI_UNAVAILABLE, NONE, "rpc serve --folder " NONE " --listen 127.0.0.1:0" },
	{ CLI_USAGE, "after tenon rpc tracker", "rpc tracker x" },
	{ CLI_UNAVAILABLE, "no address", "rpc tracker --listen nonsense" },
	{ CLI_UNAVAILABLE, "up to 65535", "rpc tracker --listen 127.0.0.1:65536" },
	{ CLI_USAGE, "more than 8 times", "rpc tracker --listen @9*127.0.0.1:0" },
	{ CLI_USAGE, "one tracker at a time", "rpc tracker status 127.0.0.1:1 x" },
	{ CLI_USAGE, "no address", "rpc tracker status nonsense" },
	{ CLI_UNAVAILABLE, "cannot connect", "rpc tracker status 127.0.0.1:1 --json" },
	{ CLI_USAGE, "options alone", "rpc proxy x" },
	{ CLI_UNAVAILABLE, "no address", "rpc proxy --listen nonsense" },
	{ CLI_USAGE, "more than 8 times", "rpc proxy --listen @9*127.0.0.1:0" },
	{ CLI_USAGE, "--advertise is for --tracker", "rpc proxy --advertise a:1" },
	{ CLI_USAGE, "usage", "rpc ping" },
	{ CLI_USAGE, "no address", "rpc ping nonsense" },
	{ CLI_UNAVAILABLE, "cannot connect", "rpc ping 127.0.0.1:1 --json" },
	{ CLI_USAGE, "1 to 1000000", "rpc ping 127.0.0.1:1 --count 0" },
	{ CLI_USAGE, "usage", "rpc functions" },
	{ CLI_UNAVAILABLE, "cannot connect", "rpc functions 127.0.0.1:1" },
	{ CLI_USAGE, "usage", "rpc upload 127.0.0.1:1" },
	{ CLI_UNAVAILABLE, "cannot connect", "rpc upload 127.0.0.1:1 " TEXT },
	{ CLI_USAGE, "usage", "rpc call 127.0.0.1:1" },
	{ CLI_UNAVAILABLE, "cannot connect", "rpc call 127.0.0.1:1 f 3" },
	{ CLI_USAGE, "what to do is missing", "hil" },
	{ CLI_USAGE, "no action", "hil nonsense" },
	{ CLI_USAGE, "--target TARGET.json", "hil run" },
	{ CLI_NO_FILE, NONE, "hil run --target " NONE },
	{ CLI_NO_FILE, "not JSON", "hil run --target " TEXT },
	{ CLI_USAGE, "no suite", "hil run --target hil/here.json nonsense" },
	{ CLI_USAGE, "--seed -1", "hil run --target hil/here.json --seed -1" },
	{ CLI_USAGE, "1 to 604800", "hil run --target hil/here.json --deadline 0" },
	{ CLI_NO_FILE, "cannot create", "hil run --target hil/here.json --out " NONE },
	{ CLI_NO_FILE, "cannot create", "hil run --target hil/here.json --out " TEXT },
	{ CLI_USAGE, "each is a prompt", "chat " WORDS " --tokens 1 --message a" },
	{ CLI_USAGE, "--temperature 1000", "chat " WORDS " --message a --temperature 1000" },
	{ CLI_USAGE, "strings that are not empty", "chat " WORDS " --stop=" },
	{ CLI_USAGE, "strings that are not empty", "chat " WORDS " --stop @17*a" },
	{ CLI_USAGE, "more than 64 times", "chat " WORDS " --message @65*a" },
	{ CLI_USAGE, "one --device", "chat " WORDS " --device cpu:0 --device cpu:0 --message a" },
	{ CLI_USAGE, "no kind of device", "chat " WORDS " --device nonsense --message a" },
	{ CLI_USAGE, "--cache-tokens", "chat " WORDS " --cache-tokens 99999999999 --message a" },
	{ CLI_UNAVAILABLE, "no loader for files named .md", "chat " TEXT " --message a" },
};

#ifdef __x86_64__
/* refused when the module is open: its code is for this processor */
static const struct line loaded[] = {
	{ CLI_USAGE, "was not given", "run " GRAPH },
	{ CLI_NO_FILE, "has no cases", "run " GRAPH " --self-test" },
	{ CLI_USAGE, "has no model", "run " LIB " --memory" },
	{ CLI_UNAVAILABLE, "cpu has 1 device", "run " GRAPH " --device cpu:7" },
	{ CLI_NO_FILE, NONE, "run " GRAPH " --input x=@" NONE },
	{ CLI_USAGE, "no input", "run " GRAPH " --input y=@" NPY },
	{ CLI_FAILED, "was compiled for", "run " GRAPH " --input 3xfloat32=ones" },
	{ CLI_NO_FILE, "more than the 16 bytes", "run " GRAPH " --input 4xfloat32=@" TEXT },
	{ CLI_NO_FILE, NONE, "run " GRAPH " --expect @" NONE },
	{ CLI_NO_FILE, "no parameters of TVM", "run " GRAPH " --params " TEXT },
	{ CLI_NO_FILE, NONE, "run " GRAPH " --params " NONE },
	{ CLI_NO_FILE, NONE, "run " GRAPH " --graph " NONE },
	{ CLI_NO_FILE, "not JSON", "run " GRAPH " --graph " TEXT },
	{ CLI_FAILED, "nn.conv2d", "run " GRAPH " --graph " JSON },
	{ CLI_NO_FILE, "cannot be created", "run " GRAPH " --input x=@" NPY " --trace " NONE },
	{ CLI_NO_FILE, "cannot be created", "run " GRAPH " --input x=@" NPY " --record " NONE },
	{ CLI_NO_FILE, "new folder", "run " GRAPH " --input x=@" NPY " --record " TEXT },
	{ CLI_NO_FILE, NONE, "run " GRAPH " --import " NONE },
	{ CLI_USAGE, "none for this", "run " GRAPH " --input x=@" NPY " --output 1=1x10xfloat32" },
	{ CLI_USAGE, "not a 4xfloat32", "run " GRAPH " --input x=@" NPY " --output 4xfloat32" },
	{ CLI_USAGE, "2 --expect", "run " GRAPH " --input x=@" NPY " --expect 1 --expect 2" },
	{ CLI_USAGE, "choose with --function", "run " SEVERAL },
	{ CLI_USAGE, "add_4", "run " SEVERAL " --function ad_4" },
	{ CLI_USAGE, "are for models", "run " SEVERAL " --function add_4 --profile" },
	{ CLI_USAGE, "2 --device",
	  "run " SEVERAL " --function add_4 --device cpu:0 --device cpu:0" },
	{ CLI_USAGE, "by their order", "run " SEVERAL " --function add_4 --input x=3" },
	{ CLI_USAGE, "2 --expect", "run " SEVERAL " --function add_4 --expect 3 --expect 4" },
	{ CLI_FAILED, "argument",
	  "run " SEVERAL " --function add_4 --input 3 --input 4 --output 4xfloat32" },
	{ CLI_USAGE, "there is forward", "run " RELAX " --function backward" },
	{ CLI_USAGE, "no function", "run " KERNELS " --function main" },
	{ CLI_USAGE, "is called", "inspect " GRAPH " --function nonsense --model" },
	{ CLI_NO_FILE, "no program has this name", "inspect " GRAPH " --show nonsense" },
	{ CLI_USAGE, "could be described", "inspect " LIB " --model" },
	{ CLI_USAGE, "could be described", "inspect " LIB " --svg --model" },
	{ CLI_UNAVAILABLE, "is no model", "bench " LIB },
	{ CLI_USAGE, "no input", "bench " GRAPH " --input nonsense=3" },
	{ CLI_NO_FILE, NONE, "bench " GRAPH " --input x=@" NONE },
	{ CLI_USAGE, "is called", "bench " GRAPH " --function nonsense" },
	{ CLI_USAGE, "there is forward", "bench " RELAX " --function nonsense" },
	{ CLI_UNAVAILABLE, "is no model", "report " LIB " -o x.html --run" },
	{ CLI_NO_FILE, "cannot write", "report " GRAPH " -o " NONE },
	{ CLI_USAGE, "for which device", "warm " KERNELS },
	{ CLI_UNAVAILABLE, "no model of the Relax", "chat " GRAPH " --message a" },
	{ CLI_NO_FILE, NONE, "chat " WORDS " --weights " NONE " --message a" },
	{ CLI_NO_FILE, "no parameters of TVM", "chat " WORDS " --weights " TEXT " --message a" },
	{ CLI_NO_FILE, "tensor-cache.json", "chat " WORDS " --weights tests --message a" },
	{ CLI_USAGE, "commas", "chat " WORDS " --tokens a" },
	{ CLI_USAGE, "commas", "chat " WORDS " --tokens 1,,2" },
	{ CLI_FAILED, "the model has", "chat " WORDS " --tokens 999999" },
	{ CLI_FAILED, "want 0 to 1", "chat " WORDS " --message a --top-p 2" },
	{ CLI_FAILED, "has room for 1", "chat " WORDS " --cache-tokens 1 --message abcdef" },
	{ CLI_NO_FILE, "cannot be created", "chat " WORDS " --trace " NONE " --message a" },
};
#endif

static int split(char *text, char **argv)
{
	int argc = 0;
	char *word;

	argv[argc++] = "tenon";
	while ((word = strsep(&text, " "))) {
		unsigned long times = 1;
		char *option = argv[argc - 1];

		if (*word == '@' && word[1] >= '0' && word[1] <= '9') {
			times = strtoul(word + 1, &word, 10);
			word++;
		}
		for (argv[argc++] = word; --times; argv[argc++] = word) {
			assert_true(argc < WORDS_MAX - 2);
			argv[argc++] = option;
		}
	}
	argv[argc] = NULL;
	return argc;
}

static void check(const struct line *l)
{
	char text[1024], *argv[WORDS_MAX];
	struct cli_run r;
	int argc;

	assert_true(strlen(l->line) < sizeof(text));
	strcpy(text, l->line);
	argc = split(text, argv);
	r = run_words(argc, argv);
	if (r.code != l->code || *r.out || !strstr(r.err, l->words))
		fail_msg("%s: exit %d, wanted %d and \"%s\" in: %s%s", l->line, r.code, l->code,
			 l->words, r.err, r.out);
	cli_run_free(&r);
}

static void a_line_that_asks_for_what_cannot_be_is_refused(void **state)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		check(&lines[i]);
}

static void a_line_that_does_not_fit_its_module_is_refused(void **state)
{
#ifdef __x86_64__
	for (size_t i = 0; i < sizeof(loaded) / sizeof(loaded[0]); i++)
		check(&loaded[i]);
#else
	skip();
#endif
}

static void a_message_names_a_file_once(void **state)
{
	struct cli_run r = RUN("chat", TEXT, "--message", "a");
	const char *first = strstr(r.err, TEXT);

	assert_non_null(first);
	assert_null(strstr(first + 1, TEXT));
	cli_run_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_that_asks_for_what_cannot_be_is_refused),
		cmocka_unit_test(a_line_that_does_not_fit_its_module_is_refused),
		cmocka_unit_test(a_message_names_a_file_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
