
set edit:completion:arg-completer[lepo] = { |@words|
    var index = (count $words)
    set index = (- $index 1)

    put (env _CLAP_IFS="\n" _CLAP_COMPLETE_INDEX=(to-string $index) LEPO_COMPLETE="elvish" lepo -- $@words) | to-lines
}

