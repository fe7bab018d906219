//! `mapping`: the near-duplicates that `transfer` finds of judged documents.

table! {
    /// A judged document of the old corpus, with a near-duplicate in the new one.
    pub struct MappingRow in "mapping", read as MappingLine {
        /// The id of the judged document.
        old: Text,
        /// The id of the near-duplicate.
        new: Text,
        /// The similarity of both, where there is a number.
        similarity: OptionalF64,
        /// The relation of both addresses: `same`, `canonical` (equal in canonical form), `different`, or `unknown` without one of them.
        url: Text,
        /// True for the best near-duplicate of the judged document.
        best: Bool,
        /// The address of the judged document.
        old_url: OptionalText omit_if_none,
        /// The address of the near-duplicate.
        new_url: OptionalText omit_if_none,
        /// The segment of the new corpus that the near-duplicate is in, if there are several segments.
        segment: OptionalText omit_if_none,
        /// The methods that accept the pair.
        methods: ListOfText,
    }
}
