//! Loads a weights file. candle multiplies Q4_1 tensors four to nine times slower than Q8_0, so they are converted
//! once, and the result is cached next to the weights. Without a writable folder every start converts them, in about a
//! second.

use std::borrow::Cow;
use std::fs::{self, File, TryLockError};
use std::io::{BufReader, Cursor, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use candle_core::Device;
use candle_core::quantized::gguf_file::{self, Content, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_transformers::models::quantized_llama::ModelWeights;
use lepo_base::error::{Error, Result};

use crate::tokenizer::Tokenizer;

/// Metadata key of a converted file: the stamp of its source.
const MADE_FROM: &str = "lepo.made_from";

/// Loads a llama model in GGUF and its tokenizer. A missing or damaged file or another architecture is an error.
/// Messages call it `named`, or by its path.
pub fn load(path: &Path, named: Option<&str>) -> Result<(ModelWeights, Tokenizer)> {
    let cannot = |what: &str| {
        let named = named.map_or_else(|| path.to_string_lossy(), Cow::Borrowed);
        let error = Error::remote(format!("weights {named} {what}"));
        // Only the user can provide added weights again.
        match path.parent().is_some_and(|folder| folder.ends_with("added")) {
            true => error,
            false => error.hint("`lepo model get` fetches the small model's weights again"),
        }
    };
    let mut file =
        File::open(path).map(BufReader::new).map_err(|e| cannot("could not be opened").because(e))?;
    let stamp = stamp(file.get_ref()).map_err(|e| cannot("could not be read").because(e))?;
    let cache = with_suffix(path, "q8_0");
    if let Some(loaded) = load_converted(&cache, &stamp) {
        return Ok(loaded);
    }
    let content = Content::read(&mut file).map_err(|e| cannot("are damaged").because(e))?;
    if content.tensor_infos.values().all(|tensor| tensor.ggml_dtype != GgmlDType::Q4_1) {
        return build(content, &mut file).map_err(|e| cannot("could not be used").because(e));
    }
    let converted = convert(content, &mut file, stamp).map_err(|e| cannot("are damaged").because(e))?;
    // Without the cache the next start converts again.
    let _ = write_cache(&cache, &converted);
    let mut reader = Cursor::new(converted);
    let content = Content::read(&mut reader).map_err(|e| cannot("could not be converted").because(e))?;
    build(content, &mut reader).map_err(|e| cannot("could not be used").because(e))
}

fn build(content: Content, reader: &mut (impl Read + Seek)) -> Result<(ModelWeights, Tokenizer)> {
    check_kind(&content)?;
    let tokenizer = Tokenizer::new(&content)?;
    let model = ModelWeights::from_gguf(content, reader, &Device::Cpu)
        .map_err(|e| Error::remote("not a llama model").because(e))?;
    Ok((model, tokenizer))
}

/// Rejects any architecture except llama, and a chat template that is not ChatML.
fn check_kind(content: &Content) -> Result<()> {
    let text = |key: &str| content.metadata.get(key).and_then(|value| value.to_string().ok());
    if let Some(other) = text("general.architecture").filter(|name| *name != "llama") {
        return Err(Error::remote(format!("its architecture is {other:?}, not \"llama\"")));
    }
    match text("tokenizer.chat_template").is_some_and(|template| !template.contains("<|im_start|>")) {
        true => Err(Error::remote("its chat template is not ChatML (<|im_start|>)")),
        false => Ok(()),
    }
}

/// Loads the converted weights, if they exist, are complete, and come from this version of the file.
fn load_converted(cache: &Path, stamp: &str) -> Option<(ModelWeights, Tokenizer)> {
    let mut reader = BufReader::new(File::open(cache).ok()?);
    let content = Content::read(&mut reader).ok()?;
    let made_from = content.metadata.get(MADE_FROM)?.to_string().ok()?;
    if made_from != stamp {
        return None;
    }
    build(content, &mut reader).ok()
}

/// Identifies a version of a file without reading it, by its size and modification time.
fn stamp(file: &File) -> std::io::Result<String> {
    let metadata = file.metadata()?;
    let changed = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(format!("{} bytes, changed {}", metadata.len(), changed.as_nanos()))
}

/// Writes the weights as another GGUF file, with Q4_1 tensors as Q8_0.
fn convert(
    mut content: Content,
    reader: &mut (impl Read + Seek),
    stamp: String,
) -> candle_core::Result<Vec<u8>> {
    let mut tensors = Vec::new();
    for name in content.tensor_infos.keys() {
        let mut tensor = content.tensor(reader, name, &Device::Cpu)?;
        if tensor.dtype() == GgmlDType::Q4_1 {
            tensor = QTensor::quantize(&tensor.dequantize(&Device::Cpu)?, GgmlDType::Q8_0)?;
        }
        tensors.push((name.as_str(), tensor));
    }
    content.metadata.insert(MADE_FROM.to_owned(), Value::String(stamp));
    let metadata: Vec<_> = content.metadata.iter().map(|(key, value)| (key.as_str(), value)).collect();
    let tensors: Vec<_> = tensors.iter().map(|(name, tensor)| (*name, tensor)).collect();
    let mut converted = Cursor::new(Vec::new());
    gguf_file::write(&mut converted, &metadata, &tensors)?;
    Ok(converted.into_inner())
}

/// Writes the cache atomically. If lepo kills this process to cancel an answer, an unlocked file remains, which the
/// next process removes.
fn write_cache(cache: &Path, bytes: &[u8]) -> std::io::Result<()> {
    sweep(cache);
    let path = with_suffix(cache, &format!("{}.part", std::process::id()));
    let mut part = File::create_new(&path)?;
    let written = part
        .try_lock()
        .map_err(std::io::Error::from)
        .and_then(|()| part.write_all(bytes))
        .and_then(|()| part.sync_all())
        .and_then(|()| fs::rename(&path, cache));
    if written.is_err() {
        let _ = fs::remove_file(&path);
    }
    written
}

/// Removes the files that killed processes left for this cache.
fn sweep(cache: &Path) {
    let (Some(folder), Some(name)) = (cache.parent(), cache.file_name()) else { return };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let other = entry.file_name();
        let is_part = other.as_encoded_bytes().starts_with(name.as_encoded_bytes())
            && other.as_encoded_bytes().ends_with(b".part");
        if is_part
            && let Ok(file) = File::open(entry.path())
            && !is_held(&file)
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_held(part: &File) -> bool {
    matches!(part.try_lock(), Err(TryLockError::WouldBlock))
}

/// Appends `.suffix` to `path`.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_is_replaced_and_leftovers_swept() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("w.gguf.q8_0");
        let dead = folder.path().join("w.gguf.q8_0.1.part");
        let held = folder.path().join("w.gguf.q8_0.2.part");
        let other = folder.path().join("w.gguf");
        for path in [&cache, &dead, &held, &other] {
            fs::write(path, "old").unwrap();
        }
        let lock = File::open(&held).unwrap();
        lock.try_lock().unwrap();
        write_cache(&cache, b"new").unwrap();
        assert_eq!(fs::read(&cache).unwrap(), b"new");
        assert!(!dead.exists() && held.exists() && other.exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn damaged_weights_are_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w.gguf");
        let mut empty = Cursor::new(Vec::new());
        gguf_file::write(&mut empty, &[], &[]).unwrap();
        for bytes in [&b""[..], b"GGUF", b"GGUF\x03\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", empty.get_ref()] {
            fs::write(&path, bytes).unwrap();
            assert!(load(&path, None).err().unwrap().hint.is_some());
        }
        let missing = load(&folder.path().join("none"), None).err().unwrap();
        let named = load(&folder.path().join("none"), Some("mine.gguf")).err().unwrap();
        assert_eq!(named.message, "weights mine.gguf could not be opened");
        assert!(missing.message.contains("none could not be opened"), "{missing}");
    }
}
