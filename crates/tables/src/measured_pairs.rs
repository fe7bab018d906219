//! `pairs` of `lab compare`: the pool of pairs, with the methods that accept each and what was measured.

table! {
    /// A pair of the pool.
    pub struct MeasuredPairRow in "pairs", read as MeasuredPairLine {
        /// The id of the earlier document.
        a: Text,
        /// The id of the later document.
        b: Text,
        /// The number of `a` in the input.
        a_n: U64,
        /// The number of `b` in the input.
        b_n: U64,
        /// The methods that accept the pair, a bit for each: `bit` in `methods.json`.
        mask: U64,
        /// The similarity of both, where it was measured.
        similarity: OptionalF64,
        /// The verdict: `near` for a near-duplicate, `not`, or `unmeasured`.
        verdict: Text,
    }
}
