
_clap_complete_lepo() {
    local words=("${COMP_WORDS[@]}") line="${COMP_LINE:0:COMP_POINT}" told
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        words[COMP_CWORD]="$2"
    fi
    COMPREPLY=()
    told=$( \
        _CLAP_COMPLETE_INDEX="${COMP_CWORD}" \
        _CLAP_COMPLETE_COMP_TYPE="${COMP_TYPE}" \
        _CLAP_COMPLETE_LINE="${line}" \
        LEPO_COMPLETE="bash" \
        lepo -- "${words[@]}" 2>/dev/null \
    ) || return
    [[ -n "$told" ]] || return 0
    # Split without an expansion: a candidate is no pattern of file names.
    IFS=$'\013' read -r -d '' -a COMPREPLY <<< "$told"
    local last=$(( ${#COMPREPLY[@]} - 1 ))
    COMPREPLY[last]="${COMPREPLY[last]%$'\n'}"
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

