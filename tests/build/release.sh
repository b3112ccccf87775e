#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make dist writes the same tarball in every clone; it holds what is committed, and a licence for each file

. tests/build/tap.sh
. tests/build/inner_make.sh
need git gzip cmp tar

GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_AUTHOR_DATE='1700000000 +0000'
GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org GIT_COMMITTER_DATE='1700000000 +0000'
export GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE \
	GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE
version=$(sed -n 's/^tenon-version *:= *//p' Makefile)
name=tenon-$version

commit_source()
{
	copy_source "$scratch/origin" && cd "$scratch/origin" && git init -q . && git add -A -f . &&
		git commit -q -m release
}

# dist CLONE UMASK TIME-ZONE
dist()
{
	(umask "$2" && git clone -q "$scratch/origin" "$scratch/$1" && echo left > "$scratch/$1/stray.o" &&
		git -C "$scratch/$1" config core.autocrlf true && cd "$scratch/$1" &&
		TZ=$3 TENON_SOURCE=$scratch/$1 inner_make -s dist)
}

same_bytes()
{
	cmp "$scratch/one/build/$name.tar.gz" "$scratch/a-longer-name/build/$name.tar.gz"
}

holds_what_is_committed()
{
	git -C "$scratch/origin" ls-files | sed "s|^|$name/|" | LC_ALL=C sort > "$scratch/committed"
	gzip -cd "$scratch/one/build/$name.tar.gz" | tar -tf - | grep -v '/$' | LC_ALL=C sort | diff "$scratch/committed" -
}

nobody_owns_it()
{
	gzip -cd "$scratch/one/build/$name.tar.gz" | tar -tvf - --numeric-owner > "$scratch/entries" || return
	# type, owner and permissions: nothing is writable for others
	not grep -v '^-rw-r--r-- 0/0 \|^[-d]rwxr-xr-x 0/0 \|^lrwxrwxrwx 0/0 ' "$scratch/entries"
}

configures()
{
	gzip -cd "$scratch/one/build/$name.tar.gz" | tar -C "$scratch" -xf - &&
		TENON_SOURCE=$scratch/$name inner_make -s O="$scratch/$name/build" defconfig &&
		cmp "$scratch/$name/build/.config" "$scratch/default.config"
}

without_an_entry()
{
	cd "$scratch/one" && sed 's/^Tenon /Version /' NEWS > NEWS.new && mv NEWS.new NEWS &&
		TENON_SOURCE=$scratch/one inner_make -s dist
}

# reuse lints what git has not ignored; without git, the build folder as well
licences()
{
	cd "$scratch/origin" && reuse lint
}

it "a commit can be made of the source" commit_source
it "make dist succeeds" dist one 0022 UTC
it "and with another umask, time zone and git configuration" dist a-longer-name 0077 Asia/Tokyo
it "the tarballs are the same, byte for byte" same_bytes
it "they hold what is committed and nothing else" holds_what_is_committed
it "nobody's name is in them, and nothing that others may write" nobody_owns_it
inner_make -s O="$scratch/default" defconfig > /dev/null 2>&1 && cp "$scratch/default/.config" "$scratch/default.config"
it "an unpacked tarball can be configured" configures
it "a version without an entry in NEWS is not released" not without_an_entry
if command -v reuse > /dev/null 2>&1; then
	it "every file has a copyright and a licence (reuse lint)" licences
else
	echo "# reuse is not installed: the licences were not checked"
fi
finish
