# A command line from words, in fish: type what you want to do, then press Ctrl+X L. The words are replaced by a command,
# which runs only when you press Enter. Nothing is kept in a store.
#   source contrib/shell/lepo.fish

function _lepo_command
    set -l words (commandline | string collect)
    string match -qr '\S' -- $words; or return
    set -l schema '{"type":"object","properties":{"command":{"type":"string"}},"required":["command"],"additionalProperties":false}'
    set -l answer (lepo do -n --no-keep --no-stdin --tools off -q --schema $schema \
        --system "You turn words into one command line for fish on "(uname -s)". Answer with the command alone." \
        -- $words 2>&1 | string collect)
    if test $pipestatus[1] -ne 0
        # Below the line of the prompt, which stays.
        printf '\n%s\n' $answer >&2
    else
        # The answer is {"command":"…"}. Of the escapes of JSON, those that stay are control characters.
        set answer (string replace -r '^\{"command":"(.*)"\}$' '$1' -- $answer)
        if string replace -ra '\\\\["\\\\/]' '' -- $answer | string match -qr '[\\\\\p{Cc}\x{200b}-\x{200f}\x{2028}-\x{202e}\x{2060}-\x{206f}]'
            printf '\nlepo: rejected a command with control characters or several lines\n' >&2
            commandline -f repaint
            return
        end
        set answer (string replace -ra '\\\\(["\\\\/])' '$1' -- $answer)
        test -n "$answer"; and commandline -r -- $answer
    end
    commandline -f repaint
end
bind \cxl _lepo_command
