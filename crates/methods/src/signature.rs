//! One signature for each document: equal ones are duplicates, and nothing else is.

use lookalike_hash as hash;

use crate::{Key, MethodError, Score, Sketch, Spec};

/// Width of the payload: the signature, or 0 for none.
pub(crate) const BYTES: usize = 8;

/// Makes `sketch` that of a document with this signature, or with none.
pub(crate) fn put(sketch: &mut Sketch, signature: Option<u64>) {
    // 0 stands for no signature.
    let signature = signature.map(|signature| signature.max(1));
    // Mixed, so that keys are spread evenly even where signatures have 32 bits.
    sketch.keys.extend(signature.map(|signature| Key { value: hash::mix(signature), tag: 0 }));
    sketch.payload.extend_from_slice(&signature.unwrap_or(0).to_le_bytes());
}

/// Equal signatures are accepted; two documents without one are not.
pub(crate) fn accept(a: &[u8], b: &[u8]) -> Option<Score> {
    (a == b && a.iter().any(|&byte| byte != 0)).then_some(Score::even(1.0))
}

/// The hash that makes a signature of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bits {
    /// CRC-32 as Zelenkov and Segalovich (2007) use it.
    Crc32,
    /// The hash of words: chance makes no pairs.
    Hash64,
}

impl Bits {
    /// The name and description of the parameter `bits`.
    pub(crate) const ABOUT: (&str, &str) =
        ("bits", "bits of the signature: 64, or 32 for CRC-32 as in the paper");

    /// The parameter `bits`.
    pub(crate) fn take(spec: &mut Spec) -> Result<Self, MethodError> {
        spec.choice("bits", &[("64", Bits::Hash64), ("32", Bits::Crc32)])
    }

    /// The signature of a string.
    pub(crate) fn of(self, text: &str) -> u64 {
        match self {
            Bits::Crc32 => crc32fast::hash(text.as_bytes()).into(),
            Bits::Hash64 => hash::word(text.as_bytes()),
        }
    }

    /// As a value of the parameter `bits`.
    pub(crate) fn value(self) -> u32 {
        match self {
            Bits::Crc32 => 32,
            Bits::Hash64 => 64,
        }
    }

    /// Returns one sentence for users on short signatures.
    pub(crate) fn advice(self) -> Option<String> {
        (self == Bits::Crc32).then(|| {
            "signatures of 32 bits pair unrelated documents by chance, about N*N/2^33 pairs of N documents; \
             bits=64 does not."
                .to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sketch(signature: Option<u64>) -> Sketch {
        let mut sketch = Sketch::default();
        put(&mut sketch, signature);
        sketch
    }

    #[test]
    fn only_equal_signatures_are_accepted() {
        let [none, zero, one, two] = [None, Some(0), Some(1), Some(2)].map(sketch);
        assert!(none.keys.is_empty() && none.payload == [0; BYTES]);
        assert_eq!(accept(&none.payload, &none.payload), None);
        assert_eq!(accept(&two.payload, &two.payload), Some(Score::even(1.0)));
        assert_eq!(accept(&one.payload, &two.payload), None);
        assert_ne!(one.keys, two.keys);
        assert_eq!(zero, one, "0 is taken, and becomes 1");
    }

    #[test]
    fn strings_have_signatures_of_two_widths() {
        assert_eq!(Bits::Crc32.of("a rose is a rose is a rose"), 0x8657_6da3);
        assert_eq!(Bits::Hash64.of("rose"), 0xd6ea_2b8b_8a72_aca7);
    }
}
