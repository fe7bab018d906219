//! The facade: all rooms of lookalike under one roof.

pub use lookalike_corpus as corpus;
pub use lookalike_model as model;
pub use lookalike_text as text;
