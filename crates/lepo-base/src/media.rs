//! File types that can be attached to a question, recognised by their first bytes.

/// Number of bytes at the start of a file that determine its type.
pub const MAGIC: usize = 16;

/// The type of an attached file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Media {
    /// `image/png`
    Png,
    /// `image/jpeg`
    Jpeg,
    /// `image/gif`
    Gif,
    /// `image/webp`
    Webp,
    /// `application/pdf`
    Pdf,
}

impl Media {
    /// All types.
    pub const ALL: [Media; 5] = [Media::Png, Media::Jpeg, Media::Gif, Media::Webp, Media::Pdf];

    /// Recognises the type by the first bytes of a file, of which [`MAGIC`] suffice.
    pub fn from_magic(bytes: &[u8]) -> Option<Media> {
        let starts = |magic: &[u8]| bytes.starts_with(magic);
        if starts(b"\x89PNG\r\n\x1a\n") {
            Some(Media::Png)
        } else if starts(b"\xff\xd8\xff") {
            Some(Media::Jpeg)
        } else if starts(b"GIF87a") || starts(b"GIF89a") {
            Some(Media::Gif)
        } else if starts(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
            Some(Media::Webp)
        } else if starts(b"%PDF-") {
            Some(Media::Pdf)
        } else {
            None
        }
    }

    /// Returns the MIME type.
    pub fn mime(self) -> &'static str {
        match self {
            Media::Png => "image/png",
            Media::Jpeg => "image/jpeg",
            Media::Gif => "image/gif",
            Media::Webp => "image/webp",
            Media::Pdf => "application/pdf",
        }
    }

    /// Returns the type with this MIME type.
    pub fn from_mime(mime: &str) -> Option<Media> {
        Media::ALL.into_iter().find(|media| media.mime() == mime)
    }

    /// Returns the usual file name extension, without its dot.
    pub fn extension(self) -> &'static str {
        match self {
            Media::Png => "png",
            Media::Jpeg => "jpg",
            Media::Gif => "gif",
            Media::Webp => "webp",
            Media::Pdf => "pdf",
        }
    }

    /// Whether the type is an image: all but PDF.
    pub fn is_image(self) -> bool {
        self != Media::Pdf
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_tell_the_type() {
        for (bytes, media) in [
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), Some(Media::Png)),
            (b"\xff\xd8\xff\xe0\0\x10JFIF", Some(Media::Jpeg)),
            (b"GIF89a\x01\0", Some(Media::Gif)),
            (b"GIF87a\x01\0", Some(Media::Gif)),
            (b"RIFF\x24\0\0\0WEBPVP8 ", Some(Media::Webp)),
            (b"RIFF\x24\0\0\0WAVEfmt ", None),
            (b"%PDF-1.7\n", Some(Media::Pdf)),
            (b"%PDF", None),
            (b"hello", None),
            (b"", None),
            (b"RIFF", None),
        ] {
            assert_eq!(Media::from_magic(bytes), media, "{bytes:?}");
        }
        for media in Media::ALL {
            assert_eq!(Media::from_mime(media.mime()), Some(media));
        }
    }
}
