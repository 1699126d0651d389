//! The numbers that a step's clients share with whoever watches them, in this process or another.
//!
//! All who share them have mapped the same memory. So a process can read what the clients in
//! another one have done, and set their clock, while that one is frozen and answers nothing.

use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::ops::Deref;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use nix::fcntl::{FcntlArg, SealFlag, fcntl};
use nix::libc::c_void;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::mman::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};
use workload::Padded;

use super::own::OwnClock;
use crate::clock::Moment;

/// The numbers that a step has only once.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Common {
    /// The clients' clock, if their target has one of its own.
    pub clock: OwnClock,
    /// The step was ended.
    pub stopped: AtomicBool,
    /// Leading streams that have not finished their work.
    pub leads: AtomicU64,
    /// Streams that have not ended.
    pub running: AtomicU64,
    /// Nanoseconds since the start from which on nothing counts.
    pub closed: AtomicU64,
}

/// The numbers of a step: [`Common`], and those of each stream on each target.
#[derive(Debug)]
pub struct Board {
    memory: NonNull<Common>,
    bytes: NonZeroUsize,
    targets: usize,
    streams: usize,
}

// SAFETY: the memory has atomics only, and belongs to the board.
unsafe impl Send for Board {}
// SAFETY: as above.
unsafe impl Sync for Board {}

impl Board {
    /// A board for clients of this process, whose step has this many streams, `leads` of them
    /// leading.
    ///
    /// # Errors
    /// If the kernel has no memory for it.
    pub fn new(targets: usize, streams: usize, leads: usize) -> io::Result<Board> {
        Ok(Board::map(None, targets, streams)?.begin(leads))
    }

    /// A board for clients of another process, on one target, and the file by which that process
    /// maps it.
    ///
    /// # Errors
    /// As [`Board::new`].
    pub fn shared(streams: usize, leads: usize) -> io::Result<(Board, OwnedFd)> {
        let flags = MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING;
        let file = File::from(memfd_create(c"steelyard-board", flags)?);
        file.set_len(Board::bytes(1, streams).get() as u64)?;
        // Nobody can take memory away that the other one has mapped.
        fcntl(&file, FcntlArg::F_ADD_SEALS(SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_SEAL))?;
        let board = Board::map(Some(&file), 1, streams)?.begin(leads);
        Ok((board, file.into()))
    }

    /// The board that another process has made, from the file that it sent.
    ///
    /// # Errors
    /// If the file is too small or can't be mapped.
    pub fn of_file(file: OwnedFd, streams: usize) -> io::Result<Board> {
        let file = File::from(file);
        let (found, expected) = (file.metadata()?.len(), Board::bytes(1, streams).get() as u64);
        if found < expected {
            let text = format!("expected {expected} bytes to share, found {found}; this is a bug");
            return Err(io::Error::other(text));
        }
        Board::map(Some(&file), 1, streams)
    }

    fn bytes(targets: usize, streams: usize) -> NonZeroUsize {
        let each = size_of::<Padded<AtomicI64>>() * targets * streams;
        NonZeroUsize::MIN.saturating_add(size_of::<Common>() + each - 1)
    }

    fn map(file: Option<&File>, targets: usize, streams: usize) -> io::Result<Board> {
        let bytes = Board::bytes(targets, streams);
        let both = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        let memory = match file {
            // SAFETY: a new mapping at an address that the kernel chooses.
            Some(file) => unsafe { mmap(None, bytes, both, MapFlags::MAP_SHARED, file, 0) }?,
            // SAFETY: as above.
            None => unsafe { mmap_anonymous(None, bytes, both, MapFlags::MAP_PRIVATE) }?,
        };
        Ok(Board { memory: memory.cast(), bytes, targets, streams })
    }

    fn begin(self, leads: usize) -> Board {
        self.leads.store(leads as u64, Ordering::Relaxed);
        self.running.store(self.streams as u64, Ordering::Relaxed);
        self.closed.store(u64::MAX, Ordering::Release);
        self
    }

    /// The operations counted so far by each stream on a target.
    #[inline]
    pub fn done(&self, target: usize) -> &[Padded<AtomicI64>] {
        assert!(target < self.targets, "one of the targets");
        // SAFETY: the mapping has so many of them behind the common part, whose size is a multiple
        // of their alignment; all zeros is a valid value.
        unsafe {
            let first: *const Padded<AtomicI64> = self.memory.as_ptr().add(1).cast();
            std::slice::from_raw_parts(first.add(target * self.streams), self.streams)
        }
    }

    /// The number of targets.
    pub fn targets(&self) -> usize {
        self.targets
    }

    /// True if all leading streams have finished their work.
    #[inline]
    pub fn leads_done(&self) -> bool {
        self.leads.load(Ordering::Acquire) == 0
    }

    /// True if all streams have ended.
    pub fn ended(&self) -> bool {
        self.running.load(Ordering::Acquire) == 0
    }

    /// From now on, by the clients' clock, nothing counts anymore.
    pub fn close(&self, start: Moment) {
        self.closed.store(self.clock.now().nanos_since(start), Ordering::Release);
    }

    /// When a step's time was over, if it was closed.
    pub fn closed(&self) -> Option<Duration> {
        let at = self.closed.load(Ordering::Acquire);
        (at != u64::MAX).then(|| Duration::from_nanos(at))
    }
}

impl Deref for Board {
    type Target = Common;

    #[inline]
    fn deref(&self) -> &Common {
        // SAFETY: the mapping begins with it, aligned to a page, and lives as long as the board.
        // All zeros is a valid value.
        unsafe { self.memory.as_ref() }
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        // SAFETY: nobody else has references into the mapping.
        let _ = unsafe { munmap(self.memory.cast::<c_void>(), self.bytes.get()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_who_map_a_file_see_the_same_numbers() {
        let (ours, file) = Board::shared(3, 2).unwrap();
        let theirs = Board::of_file(file, 3).unwrap();
        assert_eq!((theirs.leads_done(), theirs.ended(), theirs.closed()), (false, false, None));
        theirs.done(0)[2].0.store(7, Ordering::Relaxed);
        assert_eq!(ours.done(0).iter().map(|it| it.0.load(Ordering::Relaxed)).sum::<i64>(), 7);
        let start = Moment::now();
        ours.clock.stand_at(start + Duration::from_millis(5));
        assert_eq!(theirs.clock.now() - start, Duration::from_millis(5));
        ours.close(start);
        assert_eq!(theirs.closed(), Some(Duration::from_millis(5)));
        theirs.running.store(0, Ordering::Release);
        assert!(ours.ended());
    }

    #[test]
    fn a_file_that_is_too_small_is_refused() {
        let (_, file) = Board::shared(1, 1).unwrap();
        let problem = Board::of_file(file, 100).unwrap_err().to_string();
        assert!(problem.contains("bytes to share"), "{problem}");
    }

    #[test]
    fn each_target_has_numbers_of_its_own() {
        let board = Board::new(3, 2, 1).unwrap();
        for target in 0..3 {
            board.done(target)[1].0.store(target as i64, Ordering::Relaxed);
        }
        let second = |target| board.done(target)[1].0.load(Ordering::Relaxed);
        assert_eq!([0, 1, 2].map(second), [0, 1, 2]);
        assert!((0..3).all(|target| board.done(target)[0].0.load(Ordering::Relaxed) == 0));
    }
}
