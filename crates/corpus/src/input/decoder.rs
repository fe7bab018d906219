//! Decoders of single members.

use std::io::{self, Read};

use super::{Compression, Replay};

/// A decoder that meets damage forgets what it made in the same call, so it is not asked for much at once.
const STEP: usize = 32 << 10;

/// Largest window of zstd: the binary logarithm of its bytes.
const ZSTD_WINDOW_LOG: u32 = 31;

/// The decoder of one member; it owns the raw bytes and gives them back at the member's end.
pub(super) enum Decoder {
    Gzip(flate2::bufread::GzDecoder<Replay>),
    Zstd(zstd::stream::read::Decoder<'static, Replay>),
    Bzip2(bzip2::bufread::BzDecoder<Replay>),
    Xz(liblzma::bufread::XzDecoder<Replay>),
    Lz4(lz4_flex::frame::FrameDecoder<EofTracker>),
}

impl Decoder {
    pub(super) fn new(compression: Compression, raw: Replay) -> io::Result<Self> {
        Ok(match compression {
            Compression::None => unreachable!("plain bytes have no members"),
            Compression::Gzip => Decoder::Gzip(flate2::bufread::GzDecoder::new(raw)),
            Compression::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(raw)?.single_frame();
                // How much is too much is decided elsewhere, by what the frame really holds.
                decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                Decoder::Zstd(decoder)
            }
            Compression::Bzip2 => Decoder::Bzip2(bzip2::bufread::BzDecoder::new(raw)),
            Compression::Xz => {
                let stream = liblzma::stream::Stream::new_stream_decoder(u64::MAX, 0)?;
                Decoder::Xz(liblzma::bufread::XzDecoder::new_stream(raw, stream))
            }
            Compression::Lz4 => {
                Decoder::Lz4(lz4_flex::frame::FrameDecoder::new(EofTracker { raw, reached: false }))
            }
        })
    }

    pub(super) fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let step = out.len().min(STEP);
        let out = &mut out[..step];
        match self {
            Decoder::Gzip(decoder) => decoder.read(out),
            Decoder::Zstd(decoder) => decoder.read(out),
            Decoder::Bzip2(decoder) => decoder.read(out),
            Decoder::Xz(decoder) => decoder.read(out),
            Decoder::Lz4(decoder) => match decoder.read(out)? {
                // A whole frame ends before anything is read behind it.
                0 if decoder.get_ref().reached => Err(io::ErrorKind::UnexpectedEof.into()),
                length => Ok(length),
            },
        }
    }

    pub(super) fn into_raw(self) -> Replay {
        match self {
            Decoder::Gzip(decoder) => decoder.into_inner(),
            Decoder::Zstd(decoder) => decoder.finish(),
            Decoder::Bzip2(decoder) => decoder.into_inner(),
            Decoder::Xz(decoder) => decoder.into_inner(),
            Decoder::Lz4(decoder) => decoder.into_inner().raw,
        }
    }
}

/// Raw bytes that remember whether somebody asked for more than there are. The decoder of lz4 takes a file that ends between two blocks for
/// the end of the frame.
pub(super) struct EofTracker {
    raw: Replay,
    reached: bool,
}

impl Read for EofTracker {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.raw.read(out)?;
        self.reached |= length == 0 && !out.is_empty();
        Ok(length)
    }
}
