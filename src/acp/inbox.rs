//! Reads and parses messages from stdin in a separate thread, with a bounded queue.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use lepo_acp::lines::{BoundedLine, LONGEST_READ, LineBuffer};
use lepo_acp::rpc::RpcMessage;
use lepo_base::error::{Error, Result};

/// The queue's capacity in messages; an editor that sends more has to wait.
const WAITING: usize = 16;

/// Starts to read. The receiver ends with the input.
pub fn read_stdin() -> Result<Receiver<RpcMessage>> {
    let (sender, receiver) = channel(WAITING);
    std::thread::Builder::new()
        .name("inbox".into())
        .spawn(move || read(&sender))
        .map_err(|error| Error::store("cannot start a thread").because(error))?;
    Ok(receiver)
}

fn read(sender: &Sender<RpcMessage>) {
    let stdin = rustix::stdio::stdin();
    let mut lines = LineBuffer::new(LONGEST_READ);
    let mut bytes = vec![0; 64 << 10];
    let hand_on = |line: BoundedLine<'_>| {
        let message = match line {
            BoundedLine::Whole(line) => RpcMessage::read(line),
            BoundedLine::TooLong => Some(RpcMessage::too_long(LONGEST_READ)),
        };
        // The session has ended if the receiver is gone.
        message.is_none_or(|message| sender.blocking_send(message).is_ok())
    };
    loop {
        match rustix::io::read(stdin, bytes.as_mut_slice()) {
            Ok(0) => break,
            Ok(n) => {
                let mut goes_on = true;
                lines.feed(bytes.get(..n).unwrap_or_default(), |line| goes_on = goes_on && hand_on(line));
                if !goes_on {
                    return;
                }
            }
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let _ = poll(&mut [PollFd::from_borrowed_fd(stdin, PollFlags::IN)], None);
            }
            Err(_) => break,
        }
    }
    if lines.is_open() {
        lines.finish(|line| {
            let _ = hand_on(line);
        });
    }
}
