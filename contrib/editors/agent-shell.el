;;; agent-shell.el --- lepo as an agent of agent-shell -*- lexical-binding: t; -*-

(with-eval-after-load 'agent-shell
  (require 'acp)
  (add-to-list
   'agent-shell-agent-configs
   (agent-shell-make-agent-config
    :identifier 'lepo
    :mode-line-name "lepo"
    :buffer-name "lepo"
    :shell-prompt "lepo> "
    :shell-prompt-regexp "lepo> "
    :client-maker (lambda (buffer)
                    (acp-make-client
                     :command "lepo"
                     :command-params '("do" "--acp")
                     :context-buffer buffer)))))

;;; agent-shell.el ends here
