# lf: choose a conversation with fzf and continue it, for bash and zsh.
#
#   lf            list all, newest first
#   lf WORDS      list those that contain WORDS (a regular expression)
#
#   Enter         continue it at the prompt
#   Ctrl+V        read it in the pager
#   Ctrl+B        make a branch for it; asks for the name
#   Ctrl+Y        print its id, for other commands: lepo export "$(lf)"
lf() {
    local chosen key id
    local -a only=()
    [ $# -eq 0 ] || only=(--grep "$*")
    chosen=$(
        lepo ls -l "${only[@]}" |
            fzf --no-sort --expect=ctrl-b,ctrl-y --delimiter=' ' --with-nth=2.. \
                --header='Enter: continue  ^V: read  ^B: branch  ^Y: id' \
                --preview='lepo show --color=always --no-pager {1}' \
                --preview-window='right,55%,wrap,<90(down,60%,wrap)' \
                --bind='ctrl-v:execute(lepo show --color=always {1} | less -R > /dev/tty < /dev/tty)'
    ) || return
    key=${chosen%%$'\n'*}
    id=${chosen#*$'\n'}
    id=${id%% *}
    case $key in
        ctrl-y) printf '%s\n' "$id" ;;
        ctrl-b)
            printf 'name of the branch: ' > /dev/tty
            read -r key < /dev/tty && lepo branch "$key" "$id"
            ;;
        *) lepo do --tail "$id" ;;
    esac
}
