//! The values of a stream worked on by all processors, and the results in the order of the stream.
//!
//! This thread reads and cuts the stream into pieces; others make something of the values in them. A file of lines
//! they read themselves.

use std::cell::RefCell;
use std::io::Read;
use std::ops::ControlFlow;

use super::Each;
use super::conversation::Conversation;
use super::json::Value;
use super::pieces::Rest;
use super::source::{BEHIND, Reading, finish};
use super::values::Values;
use lepo_base::error::Result;
use lepo_base::read_ahead::pieces_in_order;

impl Reading {
    /// Gives `each` what `work` makes of every value, in order. What is no value is counted and stepped over; so is
    /// the rest of a stream that cannot be read on.
    pub fn each<R: Read, T: Send>(
        &mut self,
        values: &mut Values<R>,
        work: impl Fn(Value<'_>) -> T + Sync,
        mut each: impl FnMut(T, &mut Reading) -> Result<()>,
    ) -> Result<()> {
        let (used, mut ended, mut done) = (RefCell::new(Vec::new()), false, Ok(()));
        let pieces = std::iter::from_fn(|| {
            used.borrow_mut().drain(..).for_each(|buffer| values.give_back(buffer));
            let piece = if ended { None } else { values.piece().transpose() };
            ended = !matches!(piece, Some(Ok(_)));
            piece
        });
        pieces_in_order(
            self.threads,
            pieces,
            |piece| piece.as_ref().map_or(0, |piece| piece.bytes()),
            |piece| {
                piece.map(|piece| {
                    let mut made = Vec::new();
                    let rest = piece.each(|value| made.push(work(value)));
                    (made, rest)
                })
            },
            |made| {
                let failed;
                (done, failed) = match made {
                    Err(error) => (Ok(()), Some(error)),
                    Ok((made, Rest { odd, buffer, read, failed })) => {
                        self.bytes.set(self.bytes.get() + read as u64);
                        used.borrow_mut().push(buffer);
                        self.tally.skip("not JSON", odd.bad);
                        self.tally.skip("torn", odd.torn);
                        self.tally.skip("too large", odd.large);
                        self.tally.skip(BEHIND, odd.behind);
                        let all = self
                            .check()
                            .and_then(|()| made.into_iter().try_for_each(|made| each(made, self)));
                        (all, failed)
                    }
                };
                match (&done, failed) {
                    (Ok(()), None) => return ControlFlow::Continue(()),
                    (Ok(()), Some(error)) => done = self.tally.broken(error),
                    (Err(_), _) => {}
                }
                ControlFlow::Break(())
            },
        );
        done
    }

    /// Reads a stream each of whose values is a conversation, if `read` knows it.
    pub fn conversations<R: Read>(
        &mut self,
        values: &mut Values<R>,
        read: impl Fn(Value<'_>) -> Option<Conversation> + Sync,
        each: &mut Each<'_>,
    ) -> Result<()> {
        let done = self.finish;
        let work = |value: Value<'_>| {
            let mut conversation = read(value)?;
            finish(&mut conversation.nodes, done);
            Some(conversation)
        };
        self.each(values, work, |conversation, reading| match conversation {
            Some(conversation) => each(conversation),
            None => {
                reading.tally.skip("conversation without messages", 1);
                Ok(())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    /// Gives a few bytes at a time, then the end or an error.
    struct Slow<'a>(&'a [u8], usize, Option<io::ErrorKind>);

    impl Read for Slow<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            if let (true, Some(kind)) = (self.0.is_empty(), self.2) {
                return Err(kind.into());
            }
            let n = self.1.min(self.0.len()).min(to.len());
            to[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    /// The values, the counts of what is none, and the error.
    type Outcome = (Vec<String>, Vec<(String, u64)>, Option<String>);

    fn outcome(found: Vec<String>, reading: Reading, done: Result<()>) -> Outcome {
        (found, reading.tally.skipped.into_iter().collect(), done.err().map(|error| error.to_string()))
    }

    fn text(value: Value<'_>) -> String {
        String::from_utf8_lossy(value.raw()).into_owned()
    }

    fn one_after_the_other<R: Read>(mut values: Values<R>) -> Outcome {
        let (mut reading, mut found) = (Reading::default(), Vec::new());
        let done = loop {
            match reading.next(&mut values) {
                Ok(Some(value)) => found.push(text(value)),
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        outcome(found, reading, done)
    }

    fn on_threads<R: Read>(mut values: Values<R>, threads: usize) -> Outcome {
        let (mut reading, mut found) = (Reading::default(), Vec::new());
        reading.threads = Some(threads);
        let done = reading.each(&mut values, text, |text, _| {
            found.push(text);
            Ok(())
        });
        outcome(found, reading, done)
    }

    /// Values in which a cut is easily made at the wrong place.
    const TRICKY: [&str; 12] = [
        r#"{"a":"}]{[,\"}"#,
        r#"{"quote":"\\\"","next":"\\"}"#,
        r#"[[1,[2,"]"]],{"b":[]}]"#,
        "[]",
        "{}",
        r#""just a string, with \" and \\""#,
        "-1.5e3",
        "null",
        r#"{"한":"글 \ud83d\ude00"}"#,
        r#"{ "spaced" : [ 1 , 2 ] }"#,
        r#"{"long":"more than the sixty bytes that a value may have in this test"}"#,
        r#"{"bad":x}"#,
    ];

    #[test]
    fn any_number_of_threads_reads_what_one_pass_reads() {
        let many: Vec<&str> = TRICKY.iter().copied().cycle().take(60).collect();
        let (array, row, lines) =
            (format!("[{}]", many.join(" ,\n")), many.join("\n"), format!("{}\r\n", many.join("\n")));
        let torn = |whole: &str| whole.as_bytes()[..whole.len() - 150].to_vec();
        let two_in_a_line = "{}{\"b\":1}\n\n  2 3\n{\"open\n[1".repeat(9);
        let sources: [(bool, Vec<u8>); 15] = [
            (false, array.clone().into_bytes()),
            (false, torn(&array)),
            (false, row.clone().into_bytes()),
            (false, torn(&row)),
            (false, b"[]".to_vec()),
            (false, format!("{array}\n{array}").into_bytes()),
            (false, format!("{array} garbage").into_bytes()),
            (false, format!("{array}  \r\n\n").into_bytes()),
            (false, Vec::new()),
            (false, b"[{},".to_vec()),
            (true, lines.clone().into_bytes()),
            (true, torn(&lines)),
            (true, two_in_a_line.into_bytes()),
            (true, b"\xef\xbb\xbf\n\n".to_vec()),
            (true, Vec::new()),
        ];
        for (is_lines, bytes) in &sources {
            for end in [None, Some(io::ErrorKind::UnexpectedEof), Some(io::ErrorKind::QuotaExceeded)] {
                for (at_once, step) in [(1, 8), (7, 16), (1000, 16), (1000, 61), (1000, 300), (1000, 100_000)]
                {
                    let values = || {
                        let slow = Slow(bytes, at_once, end);
                        let values = if *is_lines { Values::lines(slow) } else { Values::of(slow) };
                        values.at_most(60).by(step)
                    };
                    let expected = one_after_the_other(values());
                    assert!(bytes.len() < 100 || expected.0.len() > 15, "{expected:?}");
                    for threads in [1, 2, 5] {
                        let found = on_threads(values(), threads);
                        let source = String::from_utf8_lossy(bytes);
                        assert_eq!(found, expected, "{at_once} {step} {threads} {end:?}: {source}");
                    }
                }
            }
        }
    }

    #[test]
    fn reading_ends_between_pieces_when_it_is_to_stop() {
        let bytes = "[1]\n".repeat(1000);
        for threads in [1, 2] {
            for (left, expected) in [(0, 0), (1, 10), (7, 70), (99, 990), (100, 1000)] {
                let asked = std::cell::Cell::new(0);
                let stop = move || {
                    asked.set(asked.get() + 1);
                    if asked.get() > left { Err(lepo_base::error::Error::usage("stop")) } else { Ok(()) }
                };
                let mut reading =
                    Reading { threads: Some(threads), stop: Some(Box::new(stop)), ..Reading::default() };
                let mut found = 0;
                let mut values = Values::lines(bytes.as_bytes()).by(40);
                let done = reading.each(
                    &mut values,
                    |_| (),
                    |(), _| {
                        found += 1;
                        Ok(())
                    },
                );
                assert_eq!((found, done.is_err()), (expected, left < 100), "{threads}");
            }
        }
        let mut stopped = Reading {
            stop: Some(Box::new(|| Err(lepo_base::error::Error::usage("stop")))),
            ..Reading::default()
        };
        assert!(stopped.next(&mut Values::lines(bytes.as_bytes())).is_err());
    }

    #[test]
    fn values_larger_than_all_that_may_be_in_flight_come_in_order() {
        let large = format!("{{\"a\":\"{}\"}}", "\\\"}x".repeat(1_500_000));
        let elements = ["1", &large, "{\"b\":2}", &large, &large, "3"];
        let found = |values: Values<&[u8]>| on_threads(values.by(4096), 2).0;
        assert_eq!(found(Values::of(format!("[{}]", elements.join(",")).as_bytes())), elements);
        assert_eq!(found(Values::lines(elements.join("\n").as_bytes())), elements);
    }
}
