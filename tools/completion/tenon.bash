# SPDX-License-Identifier: MIT
# bash completion for tenon(1)

# Set words to the words up to the cursor, as typed. Bash splits "x=@a.npy" at the characters of
# COMP_WORDBREAKS and replaces only the last piece, so the part before it is cut from every reply.
_tenon_words()
{
	local line=$COMP_LINE at i piece

	words=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		piece=${COMP_WORDS[i]-}
		at=${line#"${line%%[![:space:]]*}"}
		if [ "$i" -gt 0 ] && [ -n "$line" ] && [ -n "$piece" ] && [ "$at" = "$line" ]; then
			words[${#words[@]}-1]+=$piece
		else
			words+=("$piece")
		fi
		line=${at#"$piece"}
	done
	word=${words[${#words[@]}-1]}
	case $piece in
	*[!=@:]*) cut=${word%"$piece"} ;;
	*) cut=$word ;;
	esac
}

# Complete with the given lines; add the part of the word that precedes them.
_tenon_offer()
{
	local line

	while read -r line; do
		line=$head$1$line
		COMPREPLY+=("${line#"$cut"}")
	done
}

_tenon_reply()
{
	_tenon_offer '' < <(compgen -W "$1" -- "$word")
}

_tenon_files()
{
	compopt -o filenames 2>/dev/null
	_tenon_offer "$1" < <(compgen -f -- "$2")
}

_tenon_spec()
{
	case $word in
	*@*) _tenon_files "${word%%@*}@" "${word#*@}" ;;
	*=) _tenon_offer "$word" <<< @ ;;
	*=*) ;;
	*) _tenon_reply 'true false null @' ;;
	esac
	case ${COMPREPLY[*]} in
	*@) compopt -o nospace 2>/dev/null ;;
	esac
}

# Complete the value of an option of a command; fails if the option takes none.
_tenon_value()
{
	case $1,$2 in
	@values@
	*) return 1 ;;
	esac
}

# Set what may follow a command or an action of it. An action without words of its own has those of the command.
_tenon_context()
{
	case $1 in
	@contexts@
	*) actions='' ;;
	esac
}

_tenon()
{
	local words word cut head='' context actions='' operands='' options='' option i

	COMPREPLY=()
	_tenon_words
	if [ "${#words[@]}" -le 2 ]; then
		_tenon_reply '@commands@ --version --help'
		return
	fi
	context=${words[1]}
	_tenon_context "$context"
	for ((i = 2; i < ${#words[@]} - 1; i++)); do
		case " $actions " in
		*" ${words[i]} "*)
			context+=.${words[i]}
			_tenon_context "$context"
			;;
		esac
	done
	option=${words[${#words[@]}-2]}
	case $word in
	--*=*)
		option=${word%%=*}
		head=$option=
		word=${word#*=}
		;;
	esac
	if _tenon_value "${words[1]}" "$option" || [ -n "$head" ]; then
		return
	fi
	case $actions,$operands,$word in
	*,-*) _tenon_reply "$options" ;;
	,FILE,*) _tenon_files '' "$word" ;;
	,,*) _tenon_reply "$options" ;;
	,*) _tenon_reply "$operands $options" ;;
	*) _tenon_reply "$actions" ;;
	esac
}

complete -F _tenon tenon
