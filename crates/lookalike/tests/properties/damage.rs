//! Damage to files: bytes change, pieces get lost, come twice or in the wrong place.

use proptest::prelude::*;

/// One thing that happens. Places are fractions of the file's length, so that they fit any file.
#[derive(Debug, Clone)]
pub(crate) enum Damage {
    Flip(u16, u8),
    Cut(u16, u16),
    CutOff(u16),
    Twice(u16, u16),
    Splice(u16, Vec<u8>),
}

/// Words that mean something to some format.
const WORDS: [&[u8]; 12] = [
    b"\n",
    b"\r\n\r\n",
    b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 99\r\n\r\n",
    b"<DOC>\n<DOCNO>",
    b"</page><page>",
    b"\nFrom b@x Thu Jan  1 00:00:00 1970\n",
    b"\"",
    b"{\"text\":\"",
    b"\x1f\x8b\x08\0\0\0\0\0\0\x03",
    b"\x28\xb5\x2f\xfd\x04",
    b"<![CDATA[<!--",
    b"\xff\xfe\0\xd8",
];

pub(crate) fn any_damage() -> impl Strategy<Value = Vec<Damage>> {
    let piece = || (any::<u16>(), 0u16..3000);
    let word = prop::sample::select(&WORDS[..]).prop_map(<[u8]>::to_vec);
    let noise = prop::collection::vec(any::<u8>(), 0..12);
    let one = prop_oneof![
        4 => (any::<u16>(), any::<u8>()).prop_map(|(at, byte)| Damage::Flip(at, byte)),
        2 => piece().prop_map(|(at, length)| Damage::Cut(at, length)),
        1 => any::<u16>().prop_map(Damage::CutOff),
        2 => piece().prop_map(|(at, length)| Damage::Twice(at, length)),
        3 => (any::<u16>(), prop_oneof![word, noise]).prop_map(|(at, new)| Damage::Splice(at, new)),
    ];
    prop::collection::vec(one, 0..5)
}

pub(crate) fn apply(damage: &[Damage], bytes: &mut Vec<u8>) {
    for one in damage {
        let length = bytes.len();
        let place = |at: u16| usize::from(at) * length / (usize::from(u16::MAX) + 1);
        let end = |at: u16, size: u16| length.min(place(at) + usize::from(size));
        match one {
            Damage::Flip(at, byte) => bytes.iter_mut().skip(place(*at)).take(1).for_each(|old| *old = *byte),
            Damage::Cut(at, size) => drop(bytes.drain(place(*at)..end(*at, *size))),
            Damage::CutOff(at) => bytes.truncate(place(*at)),
            Damage::Twice(at, size) => bytes.extend_from_within(place(*at)..end(*at, *size)),
            Damage::Splice(at, new) => drop(bytes.splice(place(*at)..place(*at), new.iter().copied())),
        }
    }
}
