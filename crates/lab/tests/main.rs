//! Whole experiments on systems that are not there.
