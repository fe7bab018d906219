//! All methods: the contract, published vectors, and the list of them.

mod contract;
mod published;
mod registered;
