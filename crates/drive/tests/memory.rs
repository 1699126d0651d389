//! Memory of clients. Alone in its file, and so in its process, because it counts resident memory.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::common::{TestServer, load, make_table, statement, step, stream, text, uniform};
use crate::scripts::scripts;
use workload::{Class, Draw, End, Expect, Pace, Piece, Sent, Stream};

#[test]
fn a_client_holds_little_memory() {
    let mut server = TestServer::start();
    make_table(&mut server, 1000);
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
    server.sql("CREATE TABLE wide (a int, b varchar(20))");
    // Anonymous memory only: pages of the program itself are read in once, not for each client.
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    let clients: u32 = 200;
    let tpcb = "\\set id random(1, 1000)\n\\set v random(-5000, 5000)\nBEGIN;\n\
        UPDATE t SET v = v + :v WHERE id = :id;\nSELECT v FROM t WHERE id = :id;\nEND;\n";
    let scripts = Arc::new(scripts(&[(tpcb, 1)], Sent::Described));
    let plain = |client| stream(client, Class::INSERT, insert(), Pace::Free, End::Time);
    let scripted = |client| Stream {
        scripts: Some(Arc::clone(&scripts)),
        ..Stream::new(client, Class::INSERT)
    };
    let each_is: [&dyn Fn(u32) -> Stream; 2] = [&scripted, &plain];
    for (kind, stream) in ["scripts", "statements"].into_iter().zip(each_is) {
        let before = resident();
        let streams = (0..clients).map(stream).collect();
        let load = load(step(Class::INSERT, streams, Some(2.0)), vec![server.target()]);
        let running = drive::prepare(&load).unwrap().go(Instant::now());
        std::thread::sleep(Duration::from_millis(1500));
        let each = resident().saturating_sub(before) / u64::from(clients);
        assert!(running.wait(Duration::from_secs(60)));
        assert_eq!(running.join().remove(0).fatal, None);
        println!("{each} KB per client of {kind}");
        assert!(each <= 64, "{each} KB per client of {kind}, design.md allows 64");
    }
}
