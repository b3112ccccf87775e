# SPDX-License-Identifier: MIT
#
# Read by prove.sh. A fault in one source file: a copy with one line changed is compiled as the build does it, and linked in front of
# the archives. The program goes to a build that has links to all else of this one.

faulty="$scratch/faulty"

# like_the_build PROGRAM: make that build. PROGRAM is still this one's, and no other one is in its folder
like_the_build()
{
	folder=$(dirname "$1")
	rm -rf "$faulty" && mkdir -p "$faulty/$folder" || return 1
	for file in "$TENON_BUILD"/* "$TENON_BUILD"/tests/* "$TENON_BUILD/$folder"/*.so "$TENON_BUILD/$1"; do
		to="$faulty${file#"$TENON_BUILD"}"
		[ -e "$to" ] || ln -s "$file" "$to" || return 1
	done
}

# would_run FILE: the commands of make for a file of the build, one a line
would_run()
{
	${MAKE:-make} -n V=1 O="$TENON_BUILD" "$TENON_BUILD/$1" | sed -e :a -e '/\\$/N; s/\\\n//; ta'
}

# plant PROGRAM OBJECT CHANGE: put the program there with that object of a source in which CHANGE, of sed, hits one line
plant()
{
	object="$TENON_BUILD/$2"
	compile=$(would_run "$2" | grep -- " -c -o $object ") && source=${compile##* } || return 1
	sed "$3" "$source" > "$scratch/planted.c" || return 1
	if [ "$(diff "$source" "$scratch/planted.c" | grep -c '^>')" -ne 1 ]; then
		echo "$source: the line that \"$3\" is for has changed, or is there twice"
		return 1
	fi
	eval "${compile% -MMD *} -c -o '$scratch/planted.o' '$scratch/planted.c'" || return 1
	link=$(would_run "$1" | grep -- " -o $TENON_BUILD/$1 ") || return 1
	case $link in
	*" $object "*)	in_place_of=" $object " rest="" ;;
	*)		in_place_of=" $TENON_BUILD/tools/tool.a " rest="$TENON_BUILD/tools/tool.a " ;;
	esac
	rm "$faulty/$1"
	eval "$(echo "$link" | sed "s|$in_place_of| $scratch/planted.o $rest|; s| -o $TENON_BUILD/$1 | -o $faulty/$1 |")"
}
