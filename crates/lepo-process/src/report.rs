//! Reports of a supervisor, one line each.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// A line from a supervisor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SupervisorReport {
    /// The program runs as this process, which leads its own group.
    Started(i32),
    /// The program failed to start: the system's error number, or 0, and a text.
    Failed(i32, String),
    /// The program exited, with this raw wait status.
    Exited(i32),
    /// The process tree was terminated; this many processes survived.
    Swept(usize),
}

impl SupervisorReport {
    /// Formats the line, with its newline.
    pub fn line(&self) -> String {
        match self {
            SupervisorReport::Started(pid) => format!("started {pid}\n"),
            SupervisorReport::Failed(number, text) => {
                format!("failed {number} {}\n", text.replace('\n', " "))
            }
            SupervisorReport::Exited(status) => format!("exited {status}\n"),
            SupervisorReport::Swept(left) => format!("swept {left}\n"),
        }
    }

    /// Removes and returns the first complete line of `bytes`. Malformed lines are skipped.
    pub fn parse_line(bytes: &mut Vec<u8>) -> Option<SupervisorReport> {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let line: Vec<u8> = bytes.drain(..=end).collect();
            if let Some(report) = SupervisorReport::parse(String::from_utf8_lossy(&line).trim_end()) {
                return Some(report);
            }
        }
        None
    }

    fn parse(line: &str) -> Option<SupervisorReport> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "started" => Some(SupervisorReport::Started(rest.parse().ok()?)),
            "failed" => {
                let (number, text) = rest.split_once(' ').unwrap_or((rest, ""));
                Some(SupervisorReport::Failed(number.parse().ok()?, text.to_string()))
            }
            "exited" => Some(SupervisorReport::Exited(rest.parse().ok()?)),
            "swept" => Some(SupervisorReport::Swept(rest.parse().ok()?)),
            _ => None,
        }
    }
}

/// Returns the error with which a supervisor failed to start the program.
pub fn failure(number: i32, text: &str) -> io::Error {
    match number {
        0 => io::Error::other(text.to_string()),
        number => io::Error::from_raw_os_error(number),
    }
}

pub fn status(raw: i32) -> ExitStatus {
    ExitStatus::from_raw(raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read_as_they_were_written_also_in_pieces() {
        let all = [
            SupervisorReport::Started(77),
            SupervisorReport::Failed(2, "no such\tfile".into()),
            SupervisorReport::Failed(0, String::new()),
            SupervisorReport::Exited(256),
            SupervisorReport::Swept(3),
        ];
        let text: String = all.iter().map(SupervisorReport::line).collect();
        let (mut bytes, mut found) = (Vec::new(), Vec::new());
        for byte in text.bytes() {
            bytes.push(byte);
            found.extend(SupervisorReport::parse_line(&mut bytes));
        }
        assert_eq!(found, all);
        assert!(SupervisorReport::parse_line(&mut b"nonsense\nexited x\n".to_vec()).is_none());
    }
}
