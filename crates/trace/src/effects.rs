//! What a statement does to transactions and tables, as far as its words tell.

use crate::tokens::{Kind, Syntax, tokens};

/// Words that may stand between a verb and the name of its table.
const BETWEEN: [&str; 11] = [
    "into",
    "from",
    "only",
    "ignore",
    "low_priority",
    "high_priority",
    "delayed",
    "table",
    "if",
    "not",
    "exists",
];
/// First words of statements that change tables themselves.
const DEFINES: [&str; 5] = ["create", "alter", "drop", "rename", "truncate"];

/// What a statement does. Views, functions and triggers are not known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effects {
    /// It begins a transaction block (`Some(true)`) or ends one (`Some(false)`).
    pub block: Option<bool>,
    /// It sets MySQL's `autocommit`: false if the text says 0, which a normal form doesn't.
    pub autocommit: Option<bool>,
    /// The tables that it changes, in small letters, without their schema.
    pub changes: Vec<String>,
    /// All words and names in it; among them are those of the tables that it reads.
    pub names: Vec<String>,
}

/// What `text`, one statement or more, does.
pub fn effects(text: &str, syntax: Syntax) -> Effects {
    let mut effects = Effects::default();
    let all = tokens(text, syntax).filter(|(kind, _)| *kind != Kind::Gap);
    let all: Vec<(Kind, String)> =
        all.map(|(kind, it)| (kind, it.trim_matches(['"', '`']).to_lowercase())).collect();
    for statement in all.split(|(_, token)| token == ";") {
        effects.add(statement);
    }
    effects
}

impl Effects {
    fn add(&mut self, statement: &[(Kind, String)]) {
        let word = |at: usize| statement.get(at).map_or("", |(_, token)| token.as_str());
        let is_name = |at: usize| {
            statement.get(at).is_some_and(|(kind, _)| matches!(kind, Kind::Word | Kind::Name))
        };
        let names = || (0..statement.len()).filter(|at| is_name(*at)).map(|at| word(at).to_owned());
        match (word(0), word(1)) {
            ("begin", _) | ("start", "transaction") | ("xa", "start" | "begin") => {
                self.block = Some(true);
            }
            // Not in a transaction, but with locks.
            ("lock", "table" | "tables") => self.block = Some(true),
            ("flush", "table" | "tables") if names().any(|it| it == "lock") => {
                self.block = Some(true);
            }
            ("rollback", "to") => {}
            ("rollback", _) if word(2) == "to" => {}
            ("commit" | "rollback", _) if names().any(|it| it == "chain") => {
                self.block = Some(names().all(|it| it != "no"));
            }
            ("commit" | "end" | "rollback" | "abort" | "unlock", _)
            | ("prepare", "transaction")
            | ("xa", "commit" | "rollback") => self.block = Some(false),
            ("set", _) => {
                let set = |at: &usize| word(*at).trim_start_matches('@') == "autocommit";
                let value = (0..statement.len()).rfind(set).map(|at| word(at + 2));
                self.autocommit = value.map(|it| !["0", "off", "false"].contains(&it));
            }
            _ => {}
        }
        for at in 0..statement.len() {
            let places = changed(&word, at).into_iter().filter(|at| is_name(*at));
            self.changes.extend(places.map(|at| word(at).to_owned()));
        }
        self.names.extend(names());
    }
}

/// The places of the tables that the verb at `at` changes, if there is one.
fn changed<'w>(word: &impl Fn(usize) -> &'w str, at: usize) -> Vec<usize> {
    let begins = at == 0 || ["(", ")", "as", "explain", "analyze"].contains(&word(at - 1));
    let indexes = ["index", "unique", "trigger", "rule", "policy"].contains(&word(1));
    // Words where its tables end.
    let ends: &[&str] = match word(at) {
        _ if word(at + 1) == "(" => return Vec::new(),
        "update" if begins => &["set"],
        "delete" if begins => &["where", "using", "returning"],
        "truncate" if word(at + 1) == "table" => return Vec::new(),
        "insert" | "replace" | "merge" | "truncate" if begins => &["(", "select", "using"],
        "table" | "tables" if DEFINES.contains(&word(0)) => &["(", "as", "like"],
        "on" if DEFINES.contains(&word(0)) && indexes => &["(", "using"],
        "table" if word(0) == "load" => &["("],
        "view" if word(0) == "refresh" => &["with"],
        _ => return Vec::new(),
    };
    let (mut places, mut place, mut wanted) = (Vec::new(), at + 1, true);
    while !word(place).is_empty() && !ends.contains(&word(place)) {
        let name = wanted && !BETWEEN.contains(&word(place));
        if name && word(place + 1) == "." {
            place += 2;
            continue;
        }
        places.extend(name.then_some(place));
        wanted = (wanted && !name) || [",", "join", "from", "into", "to"].contains(&word(place));
        place += 1;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Effects {
        effects(text, Syntax::Dollars)
    }

    #[test]
    fn tables_that_are_changed() {
        for (text, changes) in [
            ("SELECT a FROM t WHERE b = replace(c, 'update', 'x') FOR UPDATE", &[][..]),
            (
                "INSERT INTO public.\"Shop\" (a) VALUES (1) ON CONFLICT DO UPDATE SET a = 2",
                &["shop"],
            ),
            ("insert ignore t values (?)", &["t"]),
            ("INSERT INTO t SELECT a FROM s", &["t"]),
            ("UPDATE ONLY s.t SET a = 1 FROM u", &["t"]),
            ("UPDATE a JOIN b ON a.i = b.i SET b.x = 1", &["a", "b"]),
            ("DELETE FROM t USING u WHERE t.a = u.a", &["t"]),
            ("WITH x AS (DELETE FROM t WHERE a = 1 RETURNING a) SELECT * FROM x", &["t"]),
            ("WITH x AS (SELECT 1) UPDATE t SET a = 1", &["t"]),
            ("EXPLAIN ANALYZE DELETE FROM t", &["t"]),
            ("TRUNCATE TABLE t", &["t"]),
            ("truncate s.t, u", &["t", "u"]),
            ("DROP TABLE IF EXISTS a, s.b CASCADE", &["a", "b"]),
            ("RENAME TABLE a TO b", &["a", "b"]),
            ("CREATE TABLE t AS SELECT * FROM a JOIN b ON a.i = b.i", &["t"]),
            ("CREATE TABLE t (a int REFERENCES u ON DELETE CASCADE)", &["t"]),
            ("LOAD DATA INFILE 'x' INTO TABLE t", &["t"]),
            ("REFRESH MATERIALIZED VIEW v", &["v"]),
            ("CREATE TABLE IF NOT EXISTS t (a int)", &["t"]),
            ("CREATE INDEX i ON t (a)", &["t"]),
            ("SELECT 1; UPDATE t SET a = 1", &["t"]),
        ] {
            assert_eq!(of(text).changes, changes, "{text}");
        }
        assert_eq!(of("SELECT a.x FROM \"A\" a").names, ["select", "a", "x", "from", "a", "a"]);
    }

    #[test]
    fn blocks_of_transactions() {
        for (text, block) in [
            ("BEGIN", Some(true)),
            ("begin isolation level serializable;", Some(true)),
            ("START TRANSACTION READ ONLY", Some(true)),
            ("START REPLICA", None),
            ("COMMIT", Some(false)),
            ("END;", Some(false)),
            ("ROLLBACK", Some(false)),
            ("ROLLBACK TO SAVEPOINT a", None),
            ("ROLLBACK WORK TO a", None),
            ("BEGIN; UPDATE t SET a = 1; COMMIT", Some(false)),
            ("COMMIT AND CHAIN", Some(true)),
            ("COMMIT AND NO CHAIN", Some(false)),
            ("LOCK TABLES t WRITE", Some(true)),
            ("FLUSH TABLES WITH READ LOCK", Some(true)),
            ("FLUSH TABLES", None),
            ("UNLOCK TABLES", Some(false)),
            ("XA START 'x'", Some(true)),
            ("XA END 'x'", None),
            ("XA COMMIT 'x'", Some(false)),
            ("SELECT 1", None),
        ] {
            assert_eq!(of(text).block, block, "{text}");
        }
        let autocommit = |text| effects(text, Syntax::Backslashes).autocommit;
        assert_eq!(autocommit("SET AUTOCOMMIT = 0"), Some(false));
        assert_eq!(autocommit("SET @@session.autocommit = OFF"), Some(false));
        assert_eq!(autocommit("set autocommit=1"), Some(true));
        assert_eq!(autocommit("SET autocommit=0, sql_mode='x'"), Some(false));
        assert_eq!(autocommit("SET NAMES utf8"), None);
    }
}
