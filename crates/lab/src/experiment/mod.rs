//! The experiment: its blocks in their order, and the looks that decide how it goes on.

pub mod blocks;
pub mod budget;
pub mod course;
pub mod data_dir;
pub mod elsewhere;
pub mod end;
pub mod exclusive;
pub mod extent;
pub mod lengthen;
pub mod looks;
pub mod record;
pub mod room;
pub mod run;
pub mod standing;
