//! The message to a supervisor: descriptors first, then the program to start.

use std::ffi::{OsStr, OsString};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;

use rustix::io::{FdFlags, retry_on_intr};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};

use super::Environment;
use lepo_base::sys::RECEIVE;

/// The `argv[0]` of a supervisor.
pub const KEEPER: &str = "lepo-keeper";

/// Number of descriptors in a message; the kernel allows 253.
const BATCH: usize = 128;

/// The byte that accompanies descriptors.
const DESCRIPTORS: u8 = b'f';
/// The byte before the length of the message.
const MESSAGE: u8 = b'm';

/// Maximum bytes of a message: more than the kernel accepts as arguments and environment.
const LONGEST: usize = 16 << 20;

/// A program for a supervisor to start. Its descriptors are sent separately, in this order: stdout, stderr, stdin if
/// `has_stdin`, then inherited descriptors, then descriptors to keep open until the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramSpec {
    /// Path or name.
    pub program: OsString,
    /// The program's `argv[0]`, if not `program`.
    pub arg0: OsString,
    pub args: Vec<OsString>,
    pub env: Environment,
    pub dir: OsString,
    pub has_stdin: bool,
    /// Number of descriptors that the program inherits.
    pub lent: u32,
    /// Maximum number of processes; 0 for no limit.
    pub processes: u32,
    /// Directories to remove at the end if they are empty, even if lepo exits first.
    pub removed: Vec<OsString>,
}

impl ProgramSpec {
    /// Sends the message with its descriptors.
    pub fn send(&self, mut to: &UnixStream, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        for batch in descriptors.chunks(BATCH) {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(BATCH))];
            let mut ancillary = SendAncillaryBuffer::new(&mut space);
            if !ancillary.push(SendAncillaryMessage::ScmRights(batch)) {
                return Err(io::Error::other("too many descriptors"));
            }
            retry_on_intr(|| {
                rustix::net::sendmsg(to, &[IoSlice::new(&[DESCRIPTORS])], &mut ancillary, SendFlags::empty())
            })?;
        }
        let bytes = self.bytes();
        let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
        to.write_all(&[&[MESSAGE][..], &length.to_le_bytes(), &bytes].concat())
    }

    /// Receives a message; an error if lepo has exited.
    pub fn receive(mut from: &UnixStream) -> io::Result<(ProgramSpec, Vec<OwnedFd>)> {
        let mut descriptors = Vec::new();
        loop {
            let mut byte = [0];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(BATCH))];
            let mut ancillary = RecvAncillaryBuffer::new(&mut space);
            let into = &mut [IoSliceMut::new(&mut byte)];
            let received = retry_on_intr(|| rustix::net::recvmsg(from, into, &mut ancillary, RECEIVE))?;
            for message in ancillary.drain() {
                if let RecvAncillaryMessage::ScmRights(received) = message {
                    for descriptor in received {
                        // Not every system can set the flag while it receives.
                        rustix::io::fcntl_setfd(&descriptor, FdFlags::CLOEXEC)?;
                        descriptors.push(descriptor);
                    }
                }
            }
            match (received.bytes, byte) {
                (0, _) => return Err(io::ErrorKind::UnexpectedEof.into()),
                (_, [MESSAGE]) => break,
                _ => {}
            }
        }
        let mut length = [0; 4];
        from.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length) as usize;
        let mut bytes = vec![0; Some(length).filter(|&length| length <= LONGEST).ok_or_else(malformed)?];
        from.read_exact(&mut bytes)?;
        Ok((ProgramSpec::parse(&bytes).ok_or_else(malformed)?, descriptors))
    }

    fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        [&self.program, &self.arg0, &self.dir].into_iter().for_each(|text| put(&mut out, text));
        put_number(&mut out, self.args.len());
        self.args.iter().for_each(|arg| put(&mut out, arg));
        put_number(&mut out, self.env.len());
        for (name, value) in &self.env {
            put(&mut out, name);
            put(&mut out, value);
        }
        put_number(&mut out, usize::from(self.has_stdin));
        put_number(&mut out, self.lent as usize);
        put_number(&mut out, self.processes as usize);
        put_number(&mut out, self.removed.len());
        self.removed.iter().for_each(|path| put(&mut out, path));
        out
    }

    fn parse(mut bytes: &[u8]) -> Option<ProgramSpec> {
        let from = &mut bytes;
        let (program, arg0, dir) = (read_text(from)?, read_text(from)?, read_text(from)?);
        let args = (0..take_number(from)?).map(|_| read_text(from)).collect::<Option<_>>()?;
        let env = (0..take_number(from)?)
            .map(|_| Some((read_text(from)?, read_text(from)?)))
            .collect::<Option<_>>()?;
        let has_stdin = take_number(from)? != 0;
        let (lent, processes) = (take_number(from)?, take_number(from)?);
        let removed = (0..take_number(from)?).map(|_| read_text(from)).collect::<Option<_>>()?;
        Some(ProgramSpec { program, arg0, args, env, dir, has_stdin, lent, processes, removed })
    }
}

fn put(out: &mut Vec<u8>, text: &OsStr) {
    put_number(out, text.len());
    out.extend(text.as_bytes());
}

fn put_number(out: &mut Vec<u8>, number: usize) {
    out.extend((number as u32).to_le_bytes());
}

fn read_text(from: &mut &[u8]) -> Option<OsString> {
    let length = take_number(from)? as usize;
    let (text, rest) = from.split_at_checked(length)?;
    *from = rest;
    Some(OsString::from_vec(text.to_vec()))
}

fn take_number(from: &mut &[u8]) -> Option<u32> {
    let (number, rest) = from.split_first_chunk::<4>()?;
    *from = rest;
    Some(u32::from_le_bytes(*number))
}

fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the message to the supervisor is not valid")
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_spec_arrives_as_it_was_sent_with_all_its_descriptors() {
        let (one, other) = UnixStream::pair().unwrap();
        let files: Vec<_> = (0..BATCH * 2 + 1).map(|_| std::fs::File::open("/dev/null").unwrap()).collect();
        let spec = ProgramSpec {
            program: "sh".into(),
            arg0: "held".into(),
            args: vec!["-c".into(), OsString::from_vec(b"a\xff\n".to_vec())],
            env: vec![("A".into(), "b=c".into()), ("E".into(), "".into())],
            dir: "/".into(),
            has_stdin: true,
            lent: 3,
            processes: 7,
            removed: vec!["/a".into()],
        };
        spec.send(&one, &files.iter().map(|file| file.as_fd()).collect::<Vec<_>>()).unwrap();
        let (received, descriptors) = ProgramSpec::receive(&other).unwrap();
        assert_eq!((received, descriptors.len()), (spec, files.len()));
        drop(one);
        assert_eq!(ProgramSpec::receive(&other).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn what_is_cut_short_is_no_spec() {
        let whole =
            ProgramSpec { program: "x".into(), args: vec!["y".into()], ..ProgramSpec::default() }.bytes();
        assert!(ProgramSpec::parse(&whole).is_some());
        for length in 0..whole.len() {
            assert_eq!(ProgramSpec::parse(&whole[..length]), None, "{length}");
        }
    }
}
