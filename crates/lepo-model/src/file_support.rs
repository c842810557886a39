//! The files that a model accepts: all that its provider accepts, unless the server's address or the model itself rules
//! them out.

use std::path::Path;

use reqwest::Url;

use super::media::FileSupport;
use super::quirk_file::{QuirkFile, remembered_name};
use super::quirks::FILES;
use super::registry::spec;
use crate::ModelConfig;

const MIB: u64 = 1 << 20;

/// Returns the files that a model accepts. `state_dir` contains the record of refusals.
pub fn accepts(config: &ModelConfig, state_dir: &Path) -> FileSupport {
    let spec = spec(config);
    let Some((api, url)) = spec.http.zip(Url::parse(&config.base_url).ok()) else { return spec.attachments };
    let memory = QuirkFile::new(state_dir, remembered_name(api, &url, config));
    if memory.recall(&[&FILES]).contains(&FILES) {
        return FileSupport::NOTHING;
    }
    at_address(spec.attachments, url.host_str().unwrap_or_default())
}

/// Applies the limits of known hosts. Sources: OpenAI's guide to file inputs, Google's guide to inline data.
fn at_address(accepts: FileSupport, host: &str) -> FileSupport {
    match host {
        "api.openai.com" => FileSupport { documents: Some(50 * MIB), ..accepts },
        "generativelanguage.googleapis.com" => {
            FileSupport { documents: Some(50 * MIB), total: Some(100 * MIB), ..accepts }
        }
        _ => accepts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::IMAGES_AND_PDF;

    #[test]
    fn an_address_has_its_limits() {
        for (host, documents, total) in [
            ("api.openai.com", Some(50 * MIB), None),
            ("generativelanguage.googleapis.com", Some(50 * MIB), Some(100 * MIB)),
            ("localhost", None, None),
            ("api.openai.com.example.com", None, None),
        ] {
            let accepts = at_address(FileSupport::any(IMAGES_AND_PDF), host);
            assert_eq!((accepts.documents, accepts.total), (documents, total), "{host}");
        }
    }
}
