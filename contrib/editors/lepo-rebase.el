;;; lepo-rebase.el --- a conversation of lepo as one text -*- lexical-binding: t; -*-

(defun lepo-rebase (&optional address)
  "Open the conversation of ADDRESS as one text; \\`C-c C-c' makes the new line."
  (interactive "sMessage (empty: the newest): ")
  (pop-to-buffer (generate-new-buffer "*lepo*"))
  (text-mode)
  (use-local-map (copy-keymap text-mode-map))
  (local-set-key (kbd "C-c C-c") #'lepo-rebase-send)
  (let ((coding-system-for-read 'utf-8-unix))
    (apply #'call-process "lepo" nil t nil "rebase" "--print" (remove "" (delq nil (list address)))))
  (goto-char (point-min)))

(defun lepo-rebase-send ()
  "Make the line that the text of this buffer means."
  (interactive)
  (let ((coding-system-for-write 'utf-8-unix) (coding-system-for-read 'utf-8-unix))
    (call-process-region (point-min) (point-max) "lepo" nil "*lepo rebase*" nil "rebase" "--from" "-")
    (display-buffer "*lepo rebase*")))

;;; lepo-rebase.el ends here
