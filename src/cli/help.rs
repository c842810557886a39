//! Prints help: `-h` has what everyday use needs, `--help` is complete.

use clap::{Arg, Command};

use super::external::external;
use super::finish::{end, report};
use super::{alias, tasks};
use crate::term::{Out, columns, fold, print_status};
use lepo_base::error::Error;

/// Maximum columns of a help, and its width without a terminal.
const WIDEST: usize = 100;

const NARROWEST: usize = 40;

/// Prints the complete help of the innermost command that the arguments name, through a pager if it is long.
pub(super) fn print_long(mut root: Command, words: &[String]) -> u8 {
    root.build();
    let mut out = Out::stdout();
    out.page();
    let columns = out.columns().unwrap_or(WIDEST).clamp(NARROWEST, WIDEST);
    out.trusted(&long(&root, innermost(&root, words), columns));
    end(out)
}

fn long(root: &Command, command: &Command, columns: usize) -> String {
    let mut long = command.clone().term_width(columns);
    if std::ptr::eq(command, root) {
        long = long.help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}Options:\n{{options}}{{after-help}}",
            tasks::list(root, columns)
        ));
    }
    fold(&long.render_long_help().to_string(), columns)
}

/// Prints the help of the command that the arguments name: a built-in one, an alias, or a program
/// `lepo-NAME`.
pub(super) fn print_on(mut root: Command, words: Vec<String>) -> u8 {
    // Only a built command knows its subcommands.
    root.build();
    if words.first().is_some_and(|word| word == "help") {
        return print_long(root, &[]);
    }
    let Some((name, at)) = first_unknown(&root, &words) else { return print_long(root, &words) };
    if at > 0 {
        let known = words.get(..at).unwrap_or_default().join(" ");
        let error = Error::usage(format!("`lepo {known}` has no subcommand {name:?}"));
        return report(&error.hint(format!("`lepo help {known}` describes it")));
    }
    let expanded = match alias::expand(&root, vec!["lepo".into(), name.into()]) {
        Ok((expanded, _)) => expanded,
        Err(error) => return report(&error),
    };
    let meant: Vec<String> =
        expanded.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if meant == [name] {
        return report(&external(&[name.into(), "--help".into()], false));
    }
    print_status(&format!(
        "{name} is an alias for: lepo {}",
        shlex::try_join(meant.iter().map(String::as_str)).unwrap_or_default()
    ));
    let command = meant.into_iter().find(|word| root.find_subcommand(word).is_some());
    print_long(root, &[command.unwrap_or_else(|| "do".into())])
}

/// Finds the first argument that is not a subcommand of the previous ones; returns it with its index.
fn first_unknown<'w>(root: &Command, words: &'w [String]) -> Option<(&'w str, usize)> {
    let mut command = root;
    for (at, word) in words.iter().enumerate() {
        match command.find_subcommand(word) {
            Some(inner) => command = inner,
            None => return Some((word, at)),
        }
    }
    None
}

pub(super) fn print_short(mut root: Command, words: &[String]) -> u8 {
    root.build();
    let mut out = Out::stdout();
    out.page();
    let columns = columns().clamp(NARROWEST, WIDEST);
    out.trusted(&short(&root, innermost(&root, words), columns));
    end(out)
}

fn short(root: &Command, command: &Command, columns: usize) -> String {
    if std::ptr::eq(command, root) {
        return fold(&tasks::summary(columns), columns);
    }
    let path = command.get_bin_name().unwrap_or_default();
    let daily = tasks::daily_options(path.strip_prefix("lepo ").unwrap_or(path));
    let is_shown = |arg: &Arg| {
        let name = arg.get_long().unwrap_or(arg.get_id().as_str());
        let is_own = !arg.is_hide_set() && !arg.is_global_set();
        arg.is_positional() || is_own && (daily.is_empty() || daily.contains(&name))
    };
    let has_options = command.get_arguments().any(|arg| !arg.is_positional() && is_shown(arg));
    let lists = [
        ("{positionals}\n", command.get_positionals().next().is_some()),
        ("{subcommands}\n", command.has_subcommands()),
        ("{options}\n", has_options),
    ];
    let mut template = String::from("{about-with-newline}\n{usage-heading} {usage}\n\n");
    for (list, _) in lists.iter().filter(|(_, is_there)| *is_there) {
        template += list;
    }
    if !template.ends_with("\n\n") {
        template.push('\n');
    }
    template += &format!("See `{path} --help` for all options, details and examples.\n");
    let short = command.clone().mut_args(|arg| {
        let is_hidden = !is_shown(&arg);
        arg.hide_short_help(is_hidden)
    });
    let short = short.mut_subcommands(|inner| {
        let is_hidden = inner.get_name() == "help";
        inner.hide(is_hidden)
    });
    fold(&short.term_width(columns).help_template(template).render_help().to_string(), columns)
}

fn innermost<'c>(root: &'c Command, words: &[String]) -> &'c Command {
    let mut command = root;
    for word in words {
        // Any other argument does not change the command.
        command = command.find_subcommand(word).unwrap_or(command);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::width;

    /// Lines of a short help at 80 columns: the prompt stays visible below it.
    const LINES: usize = 23;

    fn all(root: &Command) -> Vec<&Command> {
        let mut all = vec![root];
        let mut at = 0;
        while at < all.len() {
            let inner: Vec<&Command> = all[at].get_subcommands().filter(|c| c.get_name() != "help").collect();
            all.extend(inner);
            at += 1;
        }
        all
    }

    #[test]
    fn short_help_fits_a_screen() {
        let mut root = super::super::command();
        root.build();
        assert!(all(&root).len() > 30);
        for columns in [40, 80, 100] {
            for command in all(&root) {
                let help = short(&root, command, columns);
                let lines: Vec<&str> = help.lines().collect();
                assert!(lines.iter().all(|line| width(line) <= columns), "{columns}: {help}");
                assert!(columns < 80 || lines.len() <= LINES, "{}: {help}", lines.len());
                assert!(!help.contains("\n\n\n"), "{help}");
                if std::ptr::eq(command, &root) {
                    continue;
                }
                let daily = tasks::daily_options(command.get_bin_name().unwrap().trim_start_matches("lepo "));
                for arg in command.get_arguments().filter(|arg| !arg.is_global_set() && !arg.is_hide_set()) {
                    let Some(name) = arg.get_long() else { continue };
                    let is_shown =
                        help.contains(&format!("  --{name}")) || help.contains(&format!(", --{name}"));
                    assert_eq!(is_shown, daily.is_empty() || daily.contains(&name), "{name}: {help}");
                }
            }
        }
    }

    #[test]
    fn long_help_fits_its_columns() {
        let mut root = super::super::command();
        root.build();
        for columns in [40, 80, 100] {
            for command in all(&root) {
                let help = long(&root, command, columns);
                let lines: Vec<&str> = help.lines().collect();
                for pair in lines.windows(2) {
                    let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ');
                    let word = pair[1].split(' ').next().unwrap();
                    let is_full = pair[0].ends_with(':') || width(pair[0]) + 1 + width(word) > columns;
                    assert!(!is_prose(pair[0]) || !is_prose(pair[1]) || is_full, "{columns}: {pair:?}");
                }
                let wide = lines.iter().find(|line| width(line) > columns);
                assert_eq!(wide, None, "{columns} {}", command.get_name());
            }
        }
    }
}
