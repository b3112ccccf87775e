#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The command built with CONFIG_MBEDTLS: detached signatures, compared with those of openssl

. tests/build/tap.sh
. tests/build/inner_make.sh

[ -z "${EMULATOR:-}" ] || skip "needs a program for this machine"
[ -z "${SAN:-}" ] || skip "the command is built without the sanitizer"
need openssl
echo '#include <mbedtls/pk.h>' | ${CC:-cc} -E - > "$scratch/log" 2>&1 || skip "mbedtls/pk.h is missing: install libmbedtls-dev"

# all of the command is built once more, so what signatures do not need is left out
build=$(kept signatures)
options_off "$build" PLUGINS DEVICE_CPU DEVICE_CUDA DEVICE_MORTISE DEVICE_OPENCL DEVICE_VULKAN HIL > "$scratch/log" 2>&1 &&
	sed -i 's/.*CONFIG_MBEDTLS[ =].*/CONFIG_MBEDTLS=y/' "$build/.config" &&
	inner_make O="$build" CFLAGS=-O0 olddefconfig "$build/tenon" "$build/tests/nomem/command_test" >> "$scratch/log" 2>&1 || {
	sed 's/^/# /' "$scratch/log"
	echo "not ok 1 - the command builds"
	echo 1..1
	exit 1
}

# lines that the other builds of this test lack
says_when_memory_runs_out()
{
	TENON_CASE="memory_*$1 --key*" "$build/tests/nomem/command_test" > "$scratch/nomem" 2>&1
	status=$?
	cat "$scratch/nomem"
	[ $status -eq 0 ] && grep -q '[1-9][0-9]* allocations' "$scratch/nomem"
}
it "tenon sign says when memory runs out" says_when_memory_runs_out sign
it "and so does tenon verify" says_when_memory_runs_out verify

cp tests/interop/data/tvm-0.27.0.post1/host_vecadd_symbolic/lib.so "$scratch/module.so"
cd "$scratch" || exit 1
{
	openssl ecparam -name prime256v1 -genkey -noout -out ec.pem && openssl ec -in ec.pem -pubout -out ec.pub &&
		openssl genrsa -out rsa.pem 2048 && openssl rsa -in rsa.pem -pubout -out rsa.pub &&
		openssl genrsa -out short.pem 1024 && openssl genpkey -algorithm ed25519 -out ed.pem
} > log 2>&1 || {
	cat log
	skip "openssl makes no keys"
}

tenon()
{
	"$build/tenon" "$@"
}

# refuses STATUS WORDS ARGUMENT...
refuses()
{
	want=$1 words=$2
	shift 2
	tenon "$@" > said.all 2>&1
	got=$?
	cat said.all
	[ $got -eq "$want" ] && grep -qF -- "$words" said.all
}

refuses_shared_key()
{
	chmod 640 rsa.pem
	refuses 3 "chmod 600 rsa.pem" sign --key rsa.pem module.so
	shared=$?
	chmod 600 rsa.pem
	return $shared
}
it "a private key that other users can read is refused" refuses_shared_key

# a pipe without a writer
mkfifo -m 600 pipe.pem
# refuses_pipe VERB
refuses_pipe()
{
	timeout 30 "$build/tenon" "$1" --key pipe.pem module.so > said.all 2>&1
	got=$?
	cat said.all
	[ $got -eq 3 ] && grep -qF 'the key is read from a file, and this is none' said.all
}
it "so is a named pipe, without a wait" refuses_pipe sign
head -c 70000 /dev/zero > long.pem
it "a file that is too large for a key is none" refuses 3 'too many for a key' sign --key long.pem module.so
it "a missing one is named" refuses 3 'none.pem: No such file' sign --key none.pem module.so
openssl pkey -in ec.pem -outform DER -out der.pem 2> log && chmod 600 der.pem

signs()
{
	tenon sign --key "$1.pem" module.so && tenon verify --key "$1.pub" module.so &&
		openssl dgst -sha256 -verify "$1.pub" -signature module.so.sig module.so
}
it "an RSA signature is one that openssl accepts" signs rsa
it "as a public key, a named pipe is refused without a wait" refuses_pipe verify
it "a public key is not read without end" refuses 3 'this is none' verify --key /dev/zero module.so
it "nor has it a limit beyond that of a private one" refuses 3 'too many for a key' verify --key long.pem module.so
it "a missing public key is named" refuses 3 'none.pub: No such file' verify --key none.pub module.so
it "so is one with ECDSA" signs ec
ln ec.pub der.pub
it "and one with a key in DER" signs der

again()
{
	tenon sign --key "$1.pem" --output again.sig module.so && tenon sign --key "$1.pem" -o more.sig module.so && cmp again.sig more.sig
}
it "the same key and file give the same bytes" again ec

of_openssl()
{
	openssl dgst -sha256 -sign "$1.pem" -out theirs.sig module.so && tenon verify --key "$1.pub" --signature theirs.sig --json module.so |
		tee out && grep -q '"valid":.*true' out
}
it "signatures of openssl are accepted, with RSA" of_openssl rsa
it "and with ECDSA" of_openssl ec

changed()
{
	cp module.so changed.so && printf x >> changed.so && refuses 3 'is not a signature of this file' verify --key ec.pub --signature module.so.sig changed.so
}
it "a file with another byte is refused" changed
it "a signature by another key is refused" refuses 3 'is not a signature of this file' verify --key rsa.pub module.so
: > empty.sig
it "so is an empty one" refuses 3 'is not a signature of this file' verify --key ec.pub --signature empty.sig module.so
it "and random bytes" refuses 3 'is not a signature of this file' verify --key ec.pub --signature ec.pem module.so
it "a missing one is named" refuses 3 'none.sig' verify --key ec.pub --signature none.sig module.so
it "a private key does not verify" refuses 3 'want a public key' verify --key ec.pem module.so
it "a public key does not sign" refuses 3 'want a private key' sign --key ec.pub module.so
it "a short key is refused" refuses 3 'of 1024 bits; want 2048 or more' sign --key short.pem module.so
it "a key of another algorithm is refused" refuses 3 'ed.pem: ' sign --key ed.pem module.so
it "a signature without a key is a mistake" refuses 2 'without --key' verify --signature module.so.sig module.so
it "a module that is not there is named" refuses 3 'none.so' sign --key ec.pem -o none.sig none.so
it "so is a folder for the signature that is not there" refuses 3 'none/module.sig' sign --key ec.pem -o none/module.sig module.so
it "a second module is a mistake" refuses 2 'module.so' sign --key ec.pem module.so module.so

# a limit of files stands in for a disk that is full
keeps_old_signature()
{
	tenon sign --key ec.pem -o kept.sig module.so && cp kept.sig old.sig || return
	(
		trap '' XFSZ
		ulimit -f 0
		tenon sign --key rsa.pem -o kept.sig module.so 2>&1
		echo "status $?"
	) | tee /dev/stderr | grep -q 'File too large' && cmp kept.sig old.sig && ! ls | grep -v '^kept.sig$' | grep kept
}
it "a signature that the disk has no room for leaves the old one" keeps_old_signature
it "signing without a key is one" refuses 2 '--key FILE is missing' sign module.so

finish
