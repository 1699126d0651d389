//! Memory of clients: the difference between many and few, in a process of its own, because the
//! other tests of this one need memory too.
//!
//! - What clients hold on the heap is counted by the allocator: 30 to 50 KB. Half of it is the
//!   histogram, whose room doubles as the longest response time grows, so a slow machine needs
//!   more: 20 KB more for responses of an hour.
//! - Resident memory includes their stacks, and what the allocator keeps of blocks that grew. It
//!   scatters by a quarter: which arenas of the allocator threads share depends on when they
//!   allocate, and a page counts as soon as one byte of it was written.

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::common::{HANG, TestServer, load, make_table, statement, step, stream, text, uniform};
use crate::scripts::scripts;
use workload::{Class, Draw, End, Expect, Pace, Piece, Sent, Stream};

/// The numbers of clients that are compared; both share threads in the same way, or don't.
const FEW: u32 = 100;
const MANY: u32 = 220;

/// The allocator, counting the bytes in use.
struct Counting;

#[global_allocator]
static HEAP: Counting = Counting;
static USED: AtomicU64 = AtomicU64::new(0);

// SAFETY: the system's allocator does everything.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        USED.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller's layout, unchanged.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        USED.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        USED.fetch_add(size as u64, Ordering::Relaxed);
        USED.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: a block of the system's allocator and its layout.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Anonymous memory of this process in KB: pages of the program itself are not a client's.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// KB on the heap and resident while this many clients are at work.
fn held(server: &TestServer, clients: u32, each: &dyn Fn(u32) -> Stream) -> [f64; 2] {
    let streams = (0..clients).map(each).collect();
    let load = load(step(Class::INSERT, streams, Some(600.0)), vec![server.target()]);
    let running = drive::prepare(&load).unwrap().go(Instant::now());
    while running.operations()[0] < u64::from(clients) * 5 {
        assert!(!running.wait(Duration::from_millis(50)), "it ended");
    }
    let held = [USED.load(Ordering::Relaxed) as f64 / 1024.0, resident() as f64];
    running.stop();
    assert!(running.wait(HANG));
    assert_eq!(running.join().remove(0).fatal, None);
    held
}

/// Prints both figures for one client more.
fn measure(kind: &Path) {
    let mut server = TestServer::start();
    make_table(&mut server, 1000);
    server.sql("CREATE TABLE wide (a int, b varchar(20))");
    let insert = || {
        let row = vec![
            text("("),
            uniform(0, 9),
            text(","),
            Piece::Value(Draw::Text { min: 10, max: 20 }),
            text(")"),
        ];
        statement(
            vec![text("INSERT INTO wide (a, b) VALUES "), Piece::Rows { count: 100, row }],
            false,
            Expect::affected(100),
        )
    };
    let tpcb = "\\set id random(1, 1000)\n\\set v random(-5000, 5000)\nBEGIN;\n\
        UPDATE t SET v = v + :v WHERE id = :id;\nSELECT v FROM t WHERE id = :id;\nEND;\n";
    let scripts = Arc::new(scripts(&[(tpcb, 1)], Sent::Described));
    let plain = |client| stream(client, Class::INSERT, insert(), Pace::Free, End::Time);
    let scripted = |client| Stream {
        scripts: Some(Arc::clone(&scripts)),
        ..Stream::new(client, Class::INSERT)
    };
    let each: &dyn Fn(u32) -> Stream =
        if kind == Path::new("scripts") { &scripted } else { &plain };
    let [few, many] = [FEW, MANY].map(|clients| held(&server, clients, each));
    let more = [0, 1].map(|at| (many[at] - few[at]) / f64::from(MANY - FEW));
    println!("KB: {:.1} {:.1}", more[0], more[1]);
}

/// The memory that a client of each kind needs in KB, on the heap and resident. Another process
/// measures it by running the calling test.
fn per_client() -> Option<Vec<(&'static str, [f64; 2])>> {
    if let Some(kind) = testing::given() {
        measure(&kind);
        return None;
    }
    let of = |kind: &'static str| {
        let output = testing::again(&[], Path::new(kind)).output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        let line = told.lines().find_map(|line| line.split_once("KB: "));
        let (_, figures) = line.unwrap_or_else(|| panic!("{kind}: {told}"));
        println!("KB per client of {kind}, on the heap and resident: {figures}");
        let figures: Vec<f64> = figures.split(' ').map(|kb| kb.parse().unwrap()).collect();
        (kind, [figures[0], figures[1]])
    };
    Some(["scripts", "statements"].map(of).into())
}

#[test]
fn a_client_holds_little_memory() {
    for (kind, [heap, _]) in per_client().into_iter().flatten() {
        // Twice what the design allows: a slow machine needs more.
        assert!(heap > 1.0 && heap <= 128.0, "{heap} KB on the heap per client of {kind}");
    }
}

#[test]
#[ignore = "a bound: make bench"]
fn a_client_takes_little_memory() {
    for (kind, [heap, resident]) in per_client().into_iter().flatten() {
        let found = format!("{heap} KB on the heap, {resident} KB resident");
        assert!(heap <= 64.0 && resident <= 64.0, "{kind}: {found}; the design allows 64 each");
    }
}
