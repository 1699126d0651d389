//! Content compressed by zstd (RFC 8878): frames one after another, some of which hold none.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Reads the content of all frames.
pub(super) struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    /// True within a frame.
    begun: bool,
}

impl<R: BufRead> Frames<R> {
    pub(super) fn new(source: R) -> Self {
        Frames { source, decoder: FrameDecoder::new(), begun: false }
    }

    /// Begins the next frame; false at the end.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let skipped = self.source.by_ref().take(length.into());
                    if io::copy(&mut { skipped }, &mut io::sink())? < u64::from(length) {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        Ok(false)
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while !into.is_empty() {
            if !self.begun {
                self.begun = self.begin()?;
                if !self.begun {
                    break;
                }
            }
            let read = self.decoder.read(into)?;
            if read > 0 {
                return Ok(read);
            }
            if self.decoder.is_finished() {
                self.begun = false;
            } else {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.source, one).map_err(io::Error::other)?;
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn read(compressed: &[u8]) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        Frames::new(compressed).read_to_end(&mut content).map(|_| content)
    }

    fn frames(parts: &[Vec<u8>]) -> Vec<u8> {
        let frame = |part: &Vec<u8>| compress_to_vec(part.as_slice(), CompressionLevel::Fastest);
        // RFC 8878, 3.1.2: a frame without content, of five bytes.
        let skipped = [&[0x5a, 0x2a, 0x4d, 0x18, 5, 0, 0, 0][..], b"12345"].concat();
        parts.iter().flat_map(|part| [skipped.clone(), frame(part)].concat()).collect()
    }

    proptest! {
        #[test]
        fn frames_come_back_as_they_were(parts in prop::collection::vec(
            prop::collection::vec(0u8..4, 0..3000), 0..4,
        )) {
            prop_assert_eq!(read(&frames(&parts)).unwrap(), parts.concat());
        }

        #[test]
        fn what_is_cut_off_is_an_error(part in prop::collection::vec(any::<u8>(), 1..500), cut in 0.0..1.0) {
            let whole = frames(&[part]);
            let at = (whole.len() as f64 * cut) as usize;
            // Between two frames nothing is missing.
            prop_assume!(at != 0 && at != 13);
            prop_assert!(read(&whole[..at]).is_err());
        }

        #[test]
        fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = read(&[&[0x28, 0xb5, 0x2f, 0xfd][..], &bytes].concat());
        }
    }
}
