# A command line from words, in fish: type what you want to do, then press Ctrl+X L. The words are replaced by a command,
# which runs only when you press Enter. Nothing is kept in a store.
#   source contrib/shell/lepo.fish

function _lepo_command
    set -l words (commandline | string collect)
    string match -qr '\S' -- $words; or return
    set -l schema '{"type":"object","properties":{"command":{"type":"string"}},"required":["command"],"additionalProperties":false}'
    # What lepo says goes below the line of the prompt.
    printf '\n' >&2
    set -l answer (lepo do -n --no-keep --no-stdin --tools off -q --line --schema $schema \
        --system "You turn words into one command line for fish on "(uname -s)". Answer with the command alone." \
        -- $words | string collect)
    test $pipestatus[1] -eq 0; and commandline -r -- $answer
    commandline -f repaint
end
bind \cxl _lepo_command
