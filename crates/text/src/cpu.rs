//! Detection of the processor's instruction sets, once and at run time: one binary is fast everywhere.
//!
//! Code for several processors is written once, generic over the operations that differ, and built once for each
//! [`Cpu`]. Tests run all that the machine has and hold them to the portable one. On ARM there is the portable one alone, built for
//! what every such processor has.

/// A set of instructions that code was built for. The portable one runs everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Cpu {
    /// The instructions that every processor of this architecture has.
    Portable,
    /// x86-64 with AVX2 and the bit instructions that came with it.
    Avx2,
    /// x86-64 with AVX-512 as the first servers had it: its foundation, and the instructions for bytes, words and 64-bit products.
    Avx512,
    /// The same with the second set of byte instructions, which came with Ice Lake and Zen 4.
    Avx512Vbmi2,
}

impl Cpu {
    /// The best that this machine has.
    #[inline]
    pub fn detect() -> Cpu {
        #[cfg(target_arch = "x86_64")]
        {
            // Answers are kept by the standard library: asking again costs a load.
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
                (true, _) if is_x86_feature_detected!("avx512vbmi2") => return Cpu::Avx512Vbmi2,
                (true, _) => return Cpu::Avx512,
                (_, true) => return Cpu::Avx2,
                _ => {}
            }
        }
        Cpu::Portable
    }

    /// All that this machine has, the portable one first.
    pub fn available() -> impl Iterator<Item = Cpu> {
        [Cpu::Portable, Cpu::Avx2, Cpu::Avx512, Cpu::Avx512Vbmi2]
            .into_iter()
            .filter(|&cpu| cpu <= Cpu::detect())
    }
}
