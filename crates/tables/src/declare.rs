//! The macro that declares a table: columns, row and line from one list.

/// Declares a table in the module where it stands: `COLUMNS`, `TABLE`, a row to be written and a line to be read.
///
/// The doc comment of a column is its description; its type is the name of a `Kind`, with `omit_if_none` behind it where JSON lines leave
/// the column out of rows without a value.
macro_rules! table {
    (
        $(#[doc = $about:literal])+
        $(#[derive($($derive:ident),+)])?
        pub struct $row:ident in $file:literal, read as $line:ident {
            $(
                $(#[doc = $description:literal])+
                $name:ident: $kind:ident $($omit:ident)?,
            )+
        }
    ) => {
        /// The columns of the table, in their order.
        pub const COLUMNS: &[::lookalike_corpus::write::rows::Column] = &[
            $(
                ::lookalike_corpus::write::rows::Column::new(
                    stringify!($name),
                    ::lookalike_corpus::write::rows::Kind::$kind,
                )
                .described(concat!($($description),+))
                $(.$omit())?,
            )+
        ];

        /// The table.
        pub const TABLE: $crate::Table =
            $crate::Table { name: $file, row: concat!($($about),+).trim_ascii(), columns: COLUMNS };

        $(#[doc = $about])+
        #[derive(Debug, Clone, Copy, PartialEq)]
        $(#[derive($($derive),+)])?
        pub struct $row<'a> {
            $($(#[doc = $description])+ pub $name: borrowed!('a $kind),)+
        }

        impl<'a> $row<'a> {
            /// The cells of the row, in the order of the columns.
            pub fn cells(&self) -> [::lookalike_corpus::write::rows::Cell<'a>; COLUMNS.len()] {
                [$(::lookalike_corpus::write::rows::Cell::$kind(self.$name)),+]
            }

            /// Appends the row as a line of JSON, as the table has it.
            pub fn push_line(&self, out: &mut Vec<u8>) {
                ::lookalike_corpus::write::rows::push_line(out, COLUMNS, &self.cells());
            }
        }

        #[doc = concat!("A line of `", $file, ".jsonl`, read back.")]
        #[derive(Debug, Clone, PartialEq, ::serde::Deserialize)]
        pub struct $line {
            $($(#[doc = $description])+ pub $name: owned!($kind),)+
        }
    };
}

/// The type of a value that a row borrows, by the kind of its column.
macro_rules! borrowed {
    ($a:lifetime U64) => { u64 };
    ($a:lifetime OptionalU64) => { Option<u64> };
    ($a:lifetime OptionalF64) => { Option<f64> };
    ($a:lifetime Text) => { &$a str };
    ($a:lifetime OptionalText) => { Option<&$a str> };
    ($a:lifetime ListOfText) => { &$a [&$a str] };
    ($a:lifetime ListOfU64) => { &$a [u64] };
    ($a:lifetime Bool) => { bool };
}

/// The type of a value that a line owns, by the kind of its column.
macro_rules! owned {
    (U64) => { u64 };
    (OptionalU64) => { Option<u64> };
    (OptionalF64) => { Option<f64> };
    (Text) => { String };
    (OptionalText) => { Option<String> };
    (ListOfText) => { Vec<String> };
    (ListOfU64) => { Vec<u64> };
    (Bool) => { bool };
}
