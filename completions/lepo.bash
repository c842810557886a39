
_clap_complete_lepo() {
    local IFS=$'\013'
    local _CLAP_COMPLETE_INDEX=${COMP_CWORD}
    local _CLAP_COMPLETE_COMP_TYPE=${COMP_TYPE}
    if compopt +o nospace 2> /dev/null; then
        local _CLAP_COMPLETE_SPACE=false
    else
        local _CLAP_COMPLETE_SPACE=true
    fi
    local words=("${COMP_WORDS[@]}")
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        words[COMP_CWORD]="$2"
    fi
    COMPREPLY=( $( \
        _CLAP_IFS="$IFS" \
        _CLAP_COMPLETE_INDEX="$_CLAP_COMPLETE_INDEX" \
        _CLAP_COMPLETE_COMP_TYPE="$_CLAP_COMPLETE_COMP_TYPE" \
        _CLAP_COMPLETE_SPACE="$_CLAP_COMPLETE_SPACE" \
        LEPO_COMPLETE="bash" \
        "lepo" -- "${words[@]}" 2>/dev/null \
    ) )
    if [[ $? != 0 ]]; then
        unset COMPREPLY
    elif [[ $_CLAP_COMPLETE_SPACE == false ]] && [[ "${COMPREPLY-}" =~ [=/:]$ ]]; then
        compopt -o nospace
    fi
}
# Parts with no blank between them are one argument.
_lepo_whole_arguments() {
    local rest="${COMP_LINE:0:COMP_POINT}" typed="" joined=() part at start
    for part in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        if [[ ${#joined[@]} -eq 0 || "$rest" == [[:space:]]* ]]; then
            rest="${rest#"${rest%%[![:space:]]*}"}"
            typed="$rest"
            joined+=("$part")
        else
            joined[${#joined[@]}-1]+="$part"
        fi
        rest="${rest#"$part"}"
    done
    at=$(( ${#joined[@]} - 1 ))
    joined+=("${COMP_WORDS[@]:COMP_CWORD+1}")
    start="${typed%"$2"}"
    local COMP_WORDS=("${joined[@]}") COMP_CWORD="$at"
    # An @ begins an address, not the name of a host.
    if [[ "$start$2" == @* ]]; then compopt +o bashdefault 2>/dev/null; fi
    _clap_complete_lepo "$1" "$start$2" "$3"
    # Candidates have no quotes.
    start="${start//\"}"
    start="${start//\'}"
    COMPREPLY=("${COMPREPLY[@]#"$start"}")
}
if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -o nospace -o bashdefault -o nosort -F _lepo_whole_arguments lepo
else
    complete -o nospace -o bashdefault -F _lepo_whole_arguments lepo
fi

