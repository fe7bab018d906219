//! Buffers of methods: every method keeps a type of its own here, one value for each thread.

use std::any::Any;
use std::fmt;

/// The buffers of one thread, by type. A method that needs lists while it sketches puts them into a struct, asks for that
/// struct at the beginning of a document and finds it as it left it, so that nothing is allocated for most documents.
/// Its content means nothing between two documents: methods that ask for one type share it.
#[derive(Default)]
pub struct Buffers {
    /// One value for each type. They are few, so that a search is faster than a map.
    by_type: Vec<Box<dyn Any + Send + Sync>>,
}

impl Buffers {
    /// Returns the value of this type, made at the first call. To be called once for a document, not once for a key.
    pub fn own<T: Default + Send + Sync + 'static>(&mut self) -> &mut T {
        let index = self.by_type.iter().position(|buffers| buffers.is::<T>()).unwrap_or_else(|| {
            self.by_type.push(Box::<T>::default());
            self.by_type.len() - 1
        });
        self.by_type[index].downcast_mut().expect("the value was found by its type")
    }

    /// Lets go of all of them, which a large document may have left large.
    pub fn clear(&mut self) {
        self.by_type.clear();
    }
}

impl fmt::Debug for Buffers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffers").field("types", &self.by_type.len()).finish()
    }
}

impl Clone for Buffers {
    /// Empty: what is in buffers means nothing.
    fn clone(&self) -> Self {
        Buffers::default()
    }
}

impl PartialEq for Buffers {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Buffers {}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Words(Vec<u32>);

    #[test]
    fn each_type_is_made_once_and_found_again() {
        let mut buffers = Buffers::default();
        buffers.own::<Vec<u64>>().push(7);
        buffers.own::<Words>().0.push(8);
        assert_eq!(*buffers.own::<Vec<u64>>(), [7]);
        assert_eq!(buffers.own::<Words>().0, [8]);
        assert_eq!(buffers.by_type.len(), 2);
    }

    #[test]
    fn nothing_is_left_of_buffers_that_are_let_go_of() {
        let mut buffers = Buffers::default();
        buffers.own::<Vec<u64>>().push(7);
        buffers.clear();
        assert!(buffers.own::<Vec<u64>>().is_empty());
    }

    #[test]
    fn copies_are_empty_and_all_are_equal() {
        let mut buffers = Buffers::default();
        buffers.own::<Vec<u64>>().push(7);
        assert!(buffers.clone().by_type.is_empty());
        assert_eq!(buffers, Buffers::default());
    }
}
