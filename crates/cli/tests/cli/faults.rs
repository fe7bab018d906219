//! Killed, damaged, out of disk: a job goes on or says why it cannot, and never lies.
