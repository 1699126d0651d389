//! What a statement does to transactions and tables, as far as its words tell.

use crate::normal::is_keyword;
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
    /// The tables that it changes, in small letters, without their schema; perhaps other names too.
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
            ("begin", _) | ("start", "transaction") => self.block = Some(true),
            ("rollback", "to") => {}
            ("rollback", _) if word(2) == "to" => {}
            ("commit" | "end" | "rollback" | "abort", _) | ("prepare", "transaction") => {
                self.block = Some(false);
            }
            ("set", _) if names().any(|it| it.trim_start_matches('@') == "autocommit") => {
                let last = statement.last().map_or("", |(_, token)| token);
                self.autocommit = Some(!["0", "off", "false"].contains(&last));
            }
            _ => {}
        }
        let defines = DEFINES.contains(&word(0));
        for at in 0..statement.len() {
            let begins = at == 0 || ["(", ")", "as", "explain", "analyze"].contains(&word(at - 1));
            // Where the tables end that may be changed, if there may be several.
            let ends: &[&str] = match word(at) {
                _ if word(at + 1) == "(" => continue,
                "update" if begins => &["set"],
                "delete" if begins => &["where", "using", "returning"],
                "insert" | "replace" | "merge" if begins => &[],
                "table" | "on" if defines => &[],
                "truncate" if begins && word(at + 1) != "table" => &[],
                _ => continue,
            };
            let mut place = at + 1;
            while BETWEEN.contains(&word(place)) {
                place += 1;
            }
            while word(place + 1) == "." {
                place += 2;
            }
            let last = if ends.is_empty() { place + 1 } else { statement.len() };
            let tables = (place..last).take_while(|at| !ends.contains(&word(*at)));
            let tables = tables.filter(|at| is_name(*at)).map(word);
            self.changes.extend(tables.filter(|it| !is_keyword(it)).map(str::to_owned));
        }
        self.names.extend(names());
    }
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
            ("UPDATE a JOIN b ON a.i = b.i SET b.x = 1", &["a", "b", "a", "i", "b", "i"]),
            ("DELETE FROM t USING u WHERE t.a = u.a", &["t"]),
            ("WITH x AS (DELETE FROM t WHERE a = 1 RETURNING a) SELECT * FROM x", &["t"]),
            ("WITH x AS (SELECT 1) UPDATE t SET a = 1", &["t"]),
            ("EXPLAIN ANALYZE DELETE FROM t", &["t"]),
            ("TRUNCATE TABLE t", &["t"]),
            ("truncate s.t", &["t"]),
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
            ("SELECT 1", None),
        ] {
            assert_eq!(of(text).block, block, "{text}");
        }
        let autocommit = |text| effects(text, Syntax::Backslashes).autocommit;
        assert_eq!(autocommit("SET AUTOCOMMIT = 0"), Some(false));
        assert_eq!(autocommit("SET @@session.autocommit = OFF"), Some(false));
        assert_eq!(autocommit("set autocommit=1"), Some(true));
        assert_eq!(autocommit("SET NAMES utf8"), None);
    }
}
