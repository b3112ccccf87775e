#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Arrows between rooms run as the two tables of docs/rooms.md say, in sources and in objects

. tests/build/tap.sh
need nm

# One row of the tables: | `runtime/core/` | what it holds | lib |
# becomes lines "room PATTERN NAME ORDER" and "uses NAME NAME".
read_tables()
{
	awk -F' *[|] *' '
		/^\| *(tables: )?`[^`]*\// {
			row++
			cell = $2
			name = cell ~ /^tables:/ ? "tables" : ""
			tools = cell ~ /`tools\//
			gsub(/tables:|[`,]/, " ", cell)
			n = split(cell, path, " ")
			for (i = 1; i <= n; i++) {
				room = name ? name : short(path[i])
				print "room", path[i], room, row
			}
			n = split($4, used, ", ")
			for (i = 1; i <= n; i++)
				if (used[i] != "")
					print "uses", room, (tools ? "tools/" : "") used[i]
		}
		# "core" of runtime/core/, "devices" of devices/<name>/, "verb" of tools/<name>/, "tools/run" of tools/run/, "firmware/sim" of firmware/sim/
		function short(path) {
			if (path == "tools/<name>/")
				return "tools/verb"
			sub(/\/<name>\/$/, "/", path)
			sub(/\/$/, "", path)
			if (path !~ /^(tools|firmware)/)
				sub(/.*\//, "", path)
			return path
		}' docs/rooms.md
}

# Functions for the awk programs below: room_of(FILE), and allowed(FROM, TO), names of rooms.
cat > "$scratch/rooms.awk" << 'END'
FILENAME == tables && $1 == "room" {
	name[$2] = $3
	order[$3] = $4
	next
}
FILENAME == tables {
	uses[$2, $3] = 1
	used[$2] = used[$2] " " $3
	next
}
# devices/null of devices/<name>/: each folder is a room, which may not use another
function room_of(file,    folder, any) {
	if (file in name)
		return name[file]
	folder = file
	sub(/[^\/]*$/, "", folder)
	if (folder in name)
		return name[folder]
	any = folder
	sub(/[^\/]*\/$/, "<name>/", any)
	return any in name ? name[any] ":" folder : ""
}
function plain(room) {
	sub(/:.*/, "", room)
	return room
}
function allowed(from, to) {
	if (from == to || (plain(from), plain(to)) in uses)
		return 1
	return from ~ /^tools/ && to !~ /^tools/
}
END

# run_awk PROGRAM [FILE...]: with the tables read
run_awk()
{
	program=$1
	shift
	awk -v tables="$scratch/tables" -f "$scratch/rooms.awk" -f - "$scratch/tables" "$@" << END
$program
END
}

# Print what standard input brings, and fail if that is anything.
nothing()
{
	awk '{ print } END { exit NR > 0 }'
}

sources()
{
	find lib runtime rpc link llm python devices driver firmware tools -name '*.[ch]' | LC_ALL=C sort
}

rows_stand_in_order()
{
	run_awk 'END {
		for (room in used) {
			n = split(used[room], list, " ")
			for (i = 1; i <= n; i++)
				if (!(list[i] in order))
					print room " uses " list[i] ", which is no room"
				else if (order[list[i]] <= order[room])
					print room " uses " list[i] ", which does not stand below it"
		}
	}' | nothing
}

rooms_exist()
{
	run_awk 'FILENAME != tables { there[room_of($1)] = there[plain(room_of($1))] = 1 }
	END {
		for (pattern in name)
			if (!(name[pattern] in there))
				print pattern " holds no source"
	}' "$scratch/sources" | nothing
}

every_source_has_a_room()
{
	run_awk 'FILENAME != tables && room_of($1) == "" { print $1 " is in no room of the tables" }' \
		"$scratch/sources" | nothing
}

# tools/link/ beside link/ would be two things with one name
names_mean_one_thing()
{
	find lib runtime rpc link llm devices driver tools -type d | LC_ALL=C sort | awk -F / '
		{ folder[$NF] = folder[$NF] " " $0; tools[$NF] += /^tools/; other[$NF] += !/^tools/ }
		END { for (name in folder) if (tools[name] && other[name]) print name " is the name of" folder[name] }' | nothing
}

# headers that make writes, and public ones by a path, are no room
includes_obey()
{
	xargs grep -Hn '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' < "$scratch/sources" |
		sed 's/^\([^:]*\):\([0-9]*\):[^"]*"\([^"]*\)".*/\1 \2 \3/' > "$scratch/includes"
	[ -s "$scratch/includes" ] || return
	run_awk 'FILENAME != tables && $3 ~ /\// && $3 !~ /^generated\// {
		from = room_of($1)
		to = room_of($3)
		# backends use the runtime by public headers; so does what they share
		if (!allowed(from, to) || (from ~ /^(devices|spirv|cmdstream|mapped)/ && $3 ~ /^runtime\//))
			print $1 ":" $2 ": " $3 ": " from " may not include what is in " to
	}' "$scratch/includes" | nothing
}

# lines "OBJECT TYPE SYMBOL" of the objects whose source is there still
symbols()
{
	(cd "$TENON_BUILD" && find lib runtime rpc link llm devices driver tools -name '*.o') | while read -r object; do
		[ ! -e "${object%.o}.c" ] || echo "$object"
	done > "$scratch/objects"
	(cd "$TENON_BUILD" && xargs nm -A) < "$scratch/objects" |
		sed 's/^\([^:]*\)\.o:[0-9a-f ]*\([A-Za-z]\) /\1.c \2 /'
}

uses_obey()
{
	symbols > "$scratch/symbols"
	run_awk 'FILENAME == tables || $2 !~ /[A-Zw]/ { next }
	$2 !~ /[Uw]/ { home[$3] = $1; data[$3] = $2 ~ /[BDRV]/; next }
	{ use[$1, $3] = 1 }
	END {
		for (pair in use) {
			split(pair, part, SUBSEP)
			symbol = part[2]
			if (!(symbol in home))
				continue
			from = room_of(part[1])
			to = room_of(home[symbol])
			if (to == "tables" && data[symbol])
				continue
			if (!allowed(from, to))
				print part[1] ": " symbol " of " home[symbol] ": " from " may not use " to
		}
	}' "$scratch/symbols" | LC_ALL=C sort | nothing
}

# names_it WORD FOLDER: what names an accelerator or a format of models besides its FOLDER, tests and documents
names_it()
{
	if git ls-files -z > "$scratch/files" 2>/dev/null && [ -s "$scratch/files" ]; then
		xargs -0 grep -sliE "$1" < "$scratch/files"
	else
		grep -rliE "$1" . --exclude-dir=.git --exclude=.git --exclude-dir='build*' | sed 's,^\./,,'
	fi | grep -vE "^($2)/|(^|/)(docs|tests)/|\.md\$|(^|/)NEWS\$" | LC_ALL=C sort
}

# only_named_by WORD FOLDER FILE...: a line in Kconfig, what turns it on for tests, and the files
only_named_by()
{
	names_it "$1" "$2" > "$scratch/names"
	shift 2
	printf '%s\n' Kconfig configs/insideconfig configs/testconfig "$@" | LC_ALL=C sort | diff - "$scratch/names"
}

# mortise proves that what a backend needs of the library is public: its sources are those of a third party, who has the headers
# that install writes, and takes the rooms below along. Those rooms use parts of lib/, of which mortise includes none.
mortise_includes()
{
	grep -n '^[[:space:]]*#[[:space:]]*include' devices/mortise/*.[ch] > "$scratch/mortise" && grep -vE 'include (<|"(devices/(mortise|cmdstream)|driver/(board|ring|shm|dmabuf)|firmware/[a-z]*)/[a-z0-9_]*\.h")' \
		"$scratch/mortise" | nothing
}

# what they include includes nothing of lib/ or runtime/, either: in this tree there is none
mortise_compiles_alone()
{
	mkdir -p "$scratch/alone/devices" && for part in include driver firmware devices/mortise devices/cmdstream; do
		ln -s "$PWD/$part" "$scratch/alone/$part" || return
	done
	for source in devices/mortise/*.c; do
		(cd "$scratch/alone" && ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -DCONFIG_CMDSTREAM=1 -Iinclude -iquote . -fsyntax-only "$source") || return
	done
}

read_tables > "$scratch/tables"
sources > "$scratch/sources"
it "the tables of docs/rooms.md name rooms" test "$(grep -c '^room' "$scratch/tables")" -gt 20
it "a room uses rooms that stand below it" rows_stand_in_order
it "every source is in a room" every_source_has_a_room
it "every room has a source" rooms_exist
it "no folder of the command is named as one of the library" names_mean_one_thing
it "a source includes headers of rooms that its own uses" includes_obey
it "an object uses symbols of rooms that its own uses" uses_obey
it "mortise includes public headers, its own, and those of its driver alone" mortise_includes
it "mortise compiles in a tree without lib/ and runtime/" mortise_compiles_alone
# The number of its devices, and words that a shell completes; rocket is off by default, so the table of sizes turns it on.
it "torq is a folder, and a line of Kconfig" only_named_by torq devices/torq include/tenon/uapi/torq.h tools/completion/words
# compile/, a program of its own, makes files for rocket out of models of TensorFlow Lite.
it "rocket is a folder, and a line of Kconfig" only_named_by rocket 'devices/rocket|compile' \
	include/tenon/uapi/rocket.h scripts/size-table tools/completion/words
# A file that cannot be loaded is called by its name, and the package for Python lists executors.
it "TensorFlow Lite is a folder, and a line of Kconfig" only_named_by 'tflite|tensorflow lite' 'runtime/tflite|compile' runtime/kind/file_look.c \
	python/tenon/__init__.pyi python/tenon/_model.py scripts/coverage scripts/size-table
finish
