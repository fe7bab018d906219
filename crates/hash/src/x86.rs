//! Operations that the code for AVX-512 shares.

use std::arch::x86_64::__m512i;

/// The same number in all lanes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn all(value: u64) -> __m512i {
    std::arch::x86_64::_mm512_set1_epi64(value.cast_signed())
}

/// The low 64 bits of the products.
///
/// Some processors let the instruction wait for the old value of the register that it writes, which it does not use.
/// Compilers that do not know this hand it a register that something else was just computed in, and everything waits
/// in line. Here it writes over one of its factors.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn multiply(mut value: __m512i, factor: __m512i) -> __m512i {
    // SAFETY: the instruction is there, and touches nothing but these registers.
    unsafe {
        std::arch::asm!(
            "vpmullq {0}, {0}, {1}",
            inout(zmm_reg) value,
            in(zmm_reg) factor,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    value
}
