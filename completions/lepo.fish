complete --keep-order --exclusive --command lepo --arguments "(LEPO_COMPLETE=fish lepo -- (commandline --current-process --tokenize --cut-at-cursor) (commandline --current-token))"
