//! Texts made ready where they are read, on whichever thread that is: a tool's is cut, and each is hashed. The plan
//! then only links them.

use sha2::{Digest, Sha256};

use super::brief::Tools;
use super::conversation::{Node, What};

/// Makes the texts of nodes ready. If not all are wanted `brief`, those of tools that would be cut are left alone.
pub fn make_ready(nodes: &mut [Node], brief: bool) {
    for node in nodes {
        let mut hasher = Sha256::new();
        let text = match &mut node.what {
            What::Call { name, input, .. } => {
                hasher.update(name.as_bytes());
                hasher.update(b"\n");
                cut(input, brief)
            }
            What::Output { text, files, .. } if files.is_empty() => cut(text, brief),
            What::Text(_, text, files) if files.is_empty() => Some(&*text),
            What::System(text) | What::Aside(_, text) | What::Side(_, text) | What::Exact(_, _, text) => {
                Some(&*text)
            }
            What::Nothing | What::Output { .. } | What::Text(..) => None,
        };
        node.ready = text.map(|text| hasher.chain_update(text.as_bytes()).finalize().into());
    }
}

/// A tool's text as it is kept; `None` if that is not known yet.
fn cut(text: &mut String, brief: bool) -> Option<&String> {
    if !Tools::Brief.keeps_whole(text) {
        if !brief {
            return None;
        }
        *text = Tools::Brief.cut(std::mem::take(text)).0;
    }
    Some(text)
}
