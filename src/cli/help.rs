//! Prints help: `-h` fits a screen of 24 lines, `--help` is complete.

use clap::builder::StyledStr;
use clap::{Arg, Command};

use super::external::external;
use super::finish::{end, report};
use super::help_blocks::{laid_out, wrapped};
use super::{alias, tasks};
use crate::term::{Out, columns, cut, fold, print_status, width};
use lepo_base::error::Error;

/// Lines of a short help: the prompt stays visible below it.
const LINES: usize = 23;

/// On fewer columns, a list starts below its heading.
const NARROW: usize = 72;

/// Maximum columns of a long help, and its width without a terminal.
const WRITTEN: usize = 100;

const NARROWEST: usize = 40;

const MOST_INDENT: usize = 30;

/// Prints the complete help of the innermost command that the arguments name, through a pager if it is long.
pub(super) fn print_long(mut root: Command, words: &[String]) -> u8 {
    root.build();
    let mut out = Out::stdout();
    out.page();
    let columns = out.columns().unwrap_or(WRITTEN).clamp(NARROWEST, WRITTEN);
    out.trusted(&long(&root, innermost(&root, words), columns));
    end(out)
}

fn long(root: &Command, command: &Command, columns: usize) -> String {
    let mut long = command.clone().term_width(columns);
    if std::ptr::eq(command, root) {
        let list = laid_out(tasks::list(root).trim_end(), columns);
        long = long.help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}\n\nOptions:\n{{options}}{{after-help}}"
        ));
    }
    let laid_out = |text: &StyledStr| laid_out(&text.to_string(), columns);
    if let Some(about) = command.get_long_about().map(laid_out) {
        long = long.long_about(about);
    }
    if let Some(after) = command.get_after_long_help().or(command.get_after_help()).map(laid_out) {
        long = long.after_long_help(after);
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
        return report(&external(&[name.into(), "--help".into()]));
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
    let columns = columns().clamp(NARROWEST, WRITTEN);
    let command = innermost(&root, words);
    let lines = match std::ptr::eq(command, &root) {
        true => of_root(columns),
        false => of_command(command, columns),
    };
    let mut out = Out::stdout();
    lines.iter().for_each(|line| out.line(line));
    end(out)
}

fn innermost<'c>(root: &'c Command, words: &[String]) -> &'c Command {
    let mut command = root;
    for word in words {
        // Any other argument does not change the command.
        command = command.find_subcommand(word).unwrap_or(command);
    }
    command
}

/// Formats the examples, then the commands of each task on one line.
fn of_root(columns: usize) -> Vec<String> {
    let mut lines = vec![
        "Conversations with language models as plain files, the way git keeps source.".to_string(),
        String::new(),
        "  lepo                          start an interactive conversation".into(),
        "  lepo 'What does this do?'     ask; the next question continues from here".into(),
        "  git diff | lepo 'Review it'   ask about the output of another program".into(),
        "  lepo COMMAND ...              run a command:".into(),
        String::new(),
    ];
    if columns < NARROW {
        // An example's comment does not fit next to it.
        lines
            .iter_mut()
            .for_each(|line| line.truncate(line.trim_start().find("  ").map_or(line.len(), |at| at + 2)));
    }
    let indent = tasks::TASKS.iter().map(|(task, _)| width(task) + 5).max().unwrap_or_default();
    for (task, names) in tasks::TASKS {
        if *task == tasks::FOR_SCRIPTS {
            lines.push(String::new());
        }
        let names = names.iter().map(|name| name.to_string());
        if columns < NARROW {
            lines.push(format!("  {task}:"));
            lines.extend(wrapped("    ", names, ", ", columns));
            continue;
        }
        let head = format!("  {task}:{}", " ".repeat(indent - width(task) - 3));
        lines.extend(wrapped(&head, names, ", ", columns));
    }
    lines.push(String::new());
    lines.extend(folded(
        "`lepo COMMAND -h` summarises a command; `lepo --help` prints the full \
        help.",
        columns,
    ));
    lines.iter().flat_map(|line| folded(line.trim_end(), columns)).collect()
}

/// Formats purpose, usage, arguments, as many options as fit, and the names of the remaining ones.
fn of_command(command: &Command, columns: usize) -> Vec<String> {
    let path = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_string();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut lines = folded(&about, columns);
    lines.push(String::new());
    let usage = command.clone().render_usage().to_string();
    lines.extend(usage.lines().flat_map(|line| folded(line.trim_end(), columns)));
    lines.push(String::new());
    let mut tail = vec![String::new()];
    tail.extend(folded(&format!("See `{path} --help` for details and examples."), columns));
    let room = LINES.saturating_sub(lines.len() + tail.len());
    lines.extend(body(&rows(command), room, columns));
    lines.extend(tail);
    lines.iter().map(|line| cut(line, columns)).collect()
}

fn folded(text: &str, columns: usize) -> Vec<String> {
    fold(text, columns).split('\n').map(str::to_string).collect()
}

/// Formats `rows` in at most `room` lines: the first rows completely, the rest by name; if even the names do
/// not fit, by number.
fn body(rows: &[(String, String)], room: usize, columns: usize) -> Vec<String> {
    let everywhere = ["-c PATH", "-s PATH", "--color WHEN"].map(str::to_string);
    let more = |others: &[(String, String)]| {
        let names = others.iter().map(|(name, _)| name.replace(", ", " "));
        wrapped("  more: ", names.chain(everywhere.clone()), ", ", columns)
    };
    let whole = |rows: &[(String, String)]| -> Vec<String> {
        let indent = rows.iter().map(|(name, _)| width(name) + 4).max().unwrap_or_default().min(MOST_INDENT);
        let row = |(name, about): &(String, String)| {
            let gap = indent.saturating_sub(width(name) + 2).max(2);
            let head = format!("  {name}{}", " ".repeat(gap));
            wrapped(&head, about.split(' ').map(str::to_string), " ", columns)
        };
        rows.iter().flat_map(row).collect()
    };
    let shown = |count: usize, is_named: bool| {
        let (first, others) = rows.split_at_checked(count).unwrap_or_default();
        let more = match is_named {
            true => more(others),
            false => vec![format!("  and {} more options", others.len() + everywhere.len())],
        };
        [whole(first), more].concat()
    };
    let most = |is_named: bool| {
        let all = (1..=rows.len()).rev().map(|count| shown(count, is_named));
        all.into_iter().find(|lines| lines.len() <= room)
    };
    most(true).or_else(|| most(false)).unwrap_or_else(|| shown(0, true))
}

fn rows(command: &Command) -> Vec<(String, String)> {
    let first_line = |text: String| text.lines().next().unwrap_or_default().to_string();
    let about = |arg: &Arg| {
        let about = first_line(arg.get_help().map(ToString::to_string).unwrap_or_default());
        let values: Vec<String> =
            arg.get_possible_values().iter().map(|value| value.get_name().to_string()).collect();
        match arg.get_action().takes_values() && values.iter().any(|value| !about.contains(value.as_str())) {
            true => format!("{about}: {}", values.join(", ")),
            false => about,
        }
    };
    let inner = command.get_subcommands().filter(|inner| inner.get_name() != "help").map(|inner| {
        (inner.get_name().to_string(), inner.get_about().map(ToString::to_string).unwrap_or_default())
    });
    let first = tasks::daily_options(command.get_name());
    let mut arguments: Vec<&Arg> =
        command.get_arguments().filter(|arg| !arg.is_global_set() && !arg.is_hide_set()).collect();
    arguments.sort_by_key(|arg| match arg.get_long() {
        _ if arg.is_positional() => (0, 0),
        long => (1, first.iter().position(|name| Some(*name) == long).unwrap_or(first.len())),
    });
    inner.chain(arguments.into_iter().map(|arg| (name(arg), about(arg)))).collect()
}

fn name(arg: &Arg) -> String {
    let value =
        arg.get_value_names().unwrap_or_default().iter().map(|name| name.as_str()).collect::<Vec<_>>();
    if arg.is_positional() {
        return value.join(" ");
    }
    let takes = arg.get_action().takes_values();
    let value = if takes { format!(" {}", value.join(" ")) } else { String::new() };
    match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}{value}"),
        (Some(short), None) => format!("-{short}{value}"),
        (None, long) => format!("    --{}{value}", long.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for columns in [80, 40, 100] {
            for command in all(&root).into_iter().skip(1) {
                let lines = of_command(command, columns);
                assert!(lines.iter().all(|line| width(line) <= columns), "{lines:#?}");
                // Except at the end of a usage line.
                let is_cut = |line: &String| {
                    line.ends_with("...") && !line.ends_with("]...") && !line.ends_with(">...")
                };
                assert!(!lines.iter().any(is_cut), "{lines:#?}");
                let shown = lines
                    .iter()
                    .filter(|line| line.starts_with("  ") && !line.starts_with("         "))
                    .count();
                assert!(
                    shown > usize::from(!rows(command).is_empty()) && lines.len() <= LINES,
                    "{} {columns}: {lines:#?}",
                    command.get_name()
                );
                if columns < 80 {
                    continue;
                }
                for arg in command.get_arguments().filter(|arg| !arg.is_global_set() && !arg.is_positional())
                {
                    let long = arg.get_long().map(|long| format!("--{long}"));
                    let named = long.is_none_or(|long| lines.iter().any(|line| line.contains(&long)));
                    assert!(named, "{} {columns} {:?}: {lines:#?}", command.get_name(), arg.get_long());
                }
            }
            let lines = of_root(columns);
            assert!(columns < 80 || lines.len() <= LINES, "{lines:#?}");
            let is_broken =
                |line: &String| width(line) > columns || line.trim_end_matches(" ...").ends_with("...");
            assert!(!lines.iter().any(is_broken), "{lines:#?}");
        }
    }

    #[test]
    fn prose_of_long_help_fills_its_lines() {
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
                let wide = lines.iter().find(|line| !line.starts_with("  ") && width(line) > columns);
                assert_eq!(wide, None, "{columns} {}", command.get_name());
            }
        }
    }
}
