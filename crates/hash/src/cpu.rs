//! Detection of the processor's instruction sets, once and at run time: one binary is fast everywhere.
//!
//! Code for several processors is written once, generic over the operations that differ, and built once for each
//! [`Cpu`]. Tests run all that the machine has and hold them to the portable one. On ARM there is the portable one alone, built for
//! what every such processor has.

use std::sync::atomic::{AtomicU8, Ordering};

/// A level that no [`Cpu`] has.
const UNKNOWN: u8 = u8::MAX;

/// The level that [`Cpu::detect`] answers with.
static LEVEL: AtomicU8 = AtomicU8::new(UNKNOWN);

/// A set of instructions that code was built for. The portable one runs everywhere; a value of any other is
/// proof that this machine has them, and what calls to functions with `#[target_feature]` rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Cpu {
    /// The instructions that every processor of this architecture has.
    Portable,
    /// x86-64 with AVX2 and the bit instructions that came with it: `avx2`, `bmi1`, `bmi2`, `popcnt`.
    Avx2(Detected<1>),
    /// x86-64 with AVX-512 as the first servers had it: its foundation, and the instructions for bytes, words and 64-bit products.
    /// All of [`Cpu::Avx2`], and `avx512f`, `avx512bw`, `avx512dq`, `avx512vl`.
    Avx512(Detected<2>),
    /// The same with the second set of byte instructions, `avx512vbmi2`, which came with Ice Lake and Zen 4.
    Avx512Vbmi2(Detected<3>),
}

/// Proof that the instructions of one kind of [`Cpu`] were found on this machine. Only this module can make
/// one, and the level keeps it from being taken for that of another kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Detected<const LEVEL: u8>(());

impl Cpu {
    /// The best that this machine has, or what [`Cpu::limit`] has left of it.
    #[inline]
    pub fn detect() -> Cpu {
        // Every document asks several times. The standard library keeps its answers, too, but one by one.
        match LEVEL.load(Ordering::Relaxed) {
            0 => Cpu::Portable,
            1 => Cpu::Avx2(Detected(())),
            2 => Cpu::Avx512(Detected(())),
            3 => Cpu::Avx512Vbmi2(Detected(())),
            _ => {
                let found = Cpu::find();
                LEVEL.store(found.level(), Ordering::Relaxed);
                found
            }
        }
    }

    /// The number by which [`Cpu::detect`] remembers it.
    fn level(self) -> u8 {
        match self {
            Cpu::Portable => 0,
            Cpu::Avx2(_) => 1,
            Cpu::Avx512(_) => 2,
            Cpu::Avx512Vbmi2(_) => 3,
        }
    }

    /// Asks the processor.
    #[cold]
    fn find() -> Cpu {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("popcnt");
            let avx512 = avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            match (avx512, avx2) {
                (true, _) if is_x86_feature_detected!("avx512vbmi2") => {
                    return Cpu::Avx512Vbmi2(Detected(()));
                }
                (true, _) => return Cpu::Avx512(Detected(())),
                (_, true) => return Cpu::Avx2(Detected(())),
                _ => {}
            }
        }
        Cpu::Portable
    }

    /// All that this machine has, the portable one first.
    pub fn available() -> impl Iterator<Item = Cpu> {
        // Proofs before the detection; those that it does not bear out go no further.
        let [avx2, avx512, vbmi2] =
            [Cpu::Avx2(Detected(())), Cpu::Avx512(Detected(())), Cpu::Avx512Vbmi2(Detected(()))];
        [Cpu::Portable, avx2, avx512, vbmi2].into_iter().filter(|&cpu| cpu <= Cpu::detect())
    }

    /// Lets this process do without what is above a level, as on an older machine: for tests and benchmarks, before anything
    /// else has asked. Results are the same on all of them.
    pub fn limit(cpu: Cpu) {
        LEVEL.store(cpu.level(), Ordering::Relaxed);
    }

    /// The name of a level: `portable`, `avx2`, `avx512` or `avx512-vbmi2`.
    pub fn name(self) -> &'static str {
        match self {
            Cpu::Portable => "portable",
            Cpu::Avx2(_) => "avx2",
            Cpu::Avx512(_) => "avx512",
            Cpu::Avx512Vbmi2(_) => "avx512-vbmi2",
        }
    }

    /// True when all instructions of [`Cpu::Avx2`] are there.
    #[inline]
    pub fn has_avx2(self) -> bool {
        matches!(self, Cpu::Avx2(_)) || self.has_avx512()
    }

    /// True when all instructions of [`Cpu::Avx512`] are there.
    #[inline]
    pub fn has_avx512(self) -> bool {
        matches!(self, Cpu::Avx512(_) | Cpu::Avx512Vbmi2(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_available_that_was_not_found() {
        let all: Vec<Cpu> = Cpu::available().collect();
        assert_eq!((all.first(), all.last()), (Some(&Cpu::Portable), Some(&Cpu::detect())));
        assert!(all.is_sorted_by(|a, b| a < b));
        assert_eq!([Cpu::detect(), Cpu::detect()], [Cpu::find(), Cpu::find()], "asked once and again");
        #[cfg(target_arch = "x86_64")]
        for cpu in all {
            assert!(!cpu.has_avx2() || is_x86_feature_detected!("avx2"), "{cpu:?}");
            assert!(!cpu.has_avx512() || is_x86_feature_detected!("avx512dq"), "{cpu:?}");
            assert!(cpu.has_avx2() || !cpu.has_avx512(), "{cpu:?}");
        }
    }
}
