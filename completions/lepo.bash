
_clap_complete_lepo() {
    local words=() line="${COMP_LINE:0:COMP_POINT}" rest="${COMP_LINE}" raw="" cut="" told i
    # Colons part words, too: a name with one is put together, and what stands before its last one stays on the line.
    for (( i = 0; i <= COMP_CWORD; i++ )); do
        raw="${COMP_WORDS[i]}"
        if [[ i -gt 0 && "$rest" != [[:space:]]* && ( "$raw" == :* || "${COMP_WORDS[i-1]}" == *: ) ]]; then
            words[${#words[@]}-1]+="$raw"
        else
            words+=("$raw")
        fi
        rest="${rest#"${rest%%[![:space:]]*}"}"
        rest="${rest#"$raw"}"
    done
    local last=$(( ${#words[@]} - 1 ))
    if [[ "${BASH_VERSINFO[0]}" -ge 4 && "$raw" != *: ]]; then
        words[last]="${words[last]%"$raw"}$2"
    fi
    if [[ "$COMP_WORDBREAKS" == *:* && "${words[last]}" == *:* && "${words[last]}" != "$2" ]]; then
        cut="${words[last]%"${words[last]##*:}"}"
    fi
    words+=("${COMP_WORDS[@]:COMP_CWORD+1}")
    COMPREPLY=()
    told=$( \
        _CLAP_COMPLETE_INDEX="${last}" \
        _CLAP_COMPLETE_COMP_TYPE="${COMP_TYPE}" \
        _CLAP_COMPLETE_LINE="${line}" \
        LEPO_COMPLETE="bash" \
        lepo -- "${words[@]}" 2>/dev/null \
    ) || return
    [[ -n "$told" ]] || return 0
    # Split without an expansion: a candidate is no pattern of file names.
    IFS=$'\013' read -r -d '' -a COMPREPLY <<< "$told"
    last=$(( ${#COMPREPLY[@]} - 1 ))
    COMPREPLY[last]="${COMPREPLY[last]%$'\n'}"
    COMPREPLY=("${COMPREPLY[@]#"$cut"}")
    COMPREPLY=("${COMPREPLY[@]#"${cut//:/\\:}"}")
    if [[ "${COMPREPLY-}" =~ [=/:]$ ]]; then
        compopt -o nospace 2> /dev/null
    else
        compopt +o nospace 2> /dev/null
    fi
    return 0
}
if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -o nospace -o bashdefault -o nosort -F _clap_complete_lepo lepo
else
    complete -o nospace -o bashdefault -F _clap_complete_lepo lepo
fi

