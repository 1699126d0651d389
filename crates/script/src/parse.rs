//! From the text of a script to its commands.

use crate::error::{Fault, Lines, Problem, nearest};
use crate::flow::{self, Conditionals};
use crate::grammar::{Mention, expression};
use crate::scan::{Chunk, Scanner, Stop};
use crate::symbols::{continues_name, starts_name};
use crate::token::{Line, Word};
use crate::{
    Action, Command, Inside, Piece, Results, Script, ScriptError, Sleep, Sql, Store, Symbols, Time,
};

/// Parses a script. `name` is for messages. Its variables are added to `symbols`, which all scripts
/// of a workload share.
///
/// Only [`check`], which sees all parsed scripts, can tell if all variables get values.
///
/// # Errors
/// The first mistake with its place. Everything that makes pgbench refuse a script is one, and also
/// what would end its clients in any case: unended quotes, wrong use of pipelines, names of
/// variables that aren't.
///
/// [`check`]: crate::check
pub fn parse(name: &str, text: &str, symbols: &mut Symbols) -> Result<Script, ScriptError> {
    let mut parser = Parser {
        text,
        lines: Lines::new(text),
        symbols,
        commands: Vec::new(),
        mentions: Vec::new(),
        conditionals: Conditionals::default(),
        storable: false,
        number: 0,
    };
    let parsed = parser.script().map_err(|fault| fault.in_file(name, text));
    parsed?;
    let mentions = parser.mentions.iter().map(|(slot, at)| (*slot, parser.lines.place(*at)));
    let script =
        Script { name: name.to_owned(), mentions: mentions.collect(), commands: parser.commands };
    flow::check_pipelines(&script)?;
    Ok(script)
}

/// The commands that start with a backslash.
const NAMES: [&str; 13] = [
    "set",
    "sleep",
    "if",
    "elif",
    "else",
    "endif",
    "gset",
    "aset",
    "startpipeline",
    "syncpipeline",
    "endpipeline",
    "shell",
    "setshell",
];

struct Parser<'a, 's> {
    text: &'a str,
    lines: Lines<'a>,
    symbols: &'s mut Symbols,
    commands: Vec<Command>,
    mentions: Vec<Mention>,
    conditionals: Conditionals,
    /// The last command is SQL whose results aren't stored yet.
    storable: bool,
    /// Commands so far, as pgbench counts them.
    number: u32,
}

impl<'a> Parser<'a, '_> {
    fn script(&mut self) -> Result<(), Fault> {
        let mut scanner = Scanner::new(self.text);
        loop {
            let chunk = scanner.command()?;
            if !chunk.text.is_empty() {
                self.sql(&chunk);
            }
            match chunk.stop {
                Stop::Semicolon => {}
                Stop::Backslash => scanner.at = self.backslash(scanner.at)?,
                Stop::End => break,
            }
        }
        if let Some(open) = self.conditionals.open() {
            let problem = Problem::Nesting("this \\if has no \\endif");
            return Err(Fault::new(open, problem));
        }
        if self.number == 0 {
            return Err(Fault::new(0, Problem::Empty));
        }
        Ok(())
    }

    fn push(&mut self, at: usize, action: Action) {
        let place = self.lines.place(at);
        self.commands.push(Command { place, number: self.number, action });
    }

    /// References are found in the whole text, even inside quotes and comments, as in pgbench.
    fn sql(&mut self, chunk: &Chunk) {
        self.number += 1;
        self.storable = true;
        let text = &*chunk.text;
        let (mut pieces, mut done, mut at) = (Vec::new(), 0, 0);
        while let Some(colon) = text[at..].find(':') {
            let start = at + colon;
            let name = &text[start + 1..];
            let length = match name.bytes().next() {
                Some(first) if starts_name(first) => {
                    name.bytes().take_while(|byte| continues_name(*byte)).count()
                }
                _ => {
                    // A run of colons refers to nothing.
                    at = start + text[start..].bytes().take_while(|byte| *byte == b':').count();
                    continue;
                }
            };
            let (source, inside) = chunk.source(start);
            let slot = self.symbols.intern(&name[..length]);
            if inside == Inside::Nothing {
                self.mentions.push((slot, source));
            }
            if start > done {
                pieces.push(Piece::Text(text[done..start].to_owned()));
            }
            pieces.push(Piece::Variable { slot, inside });
            at = start + 1 + length;
            done = at;
        }
        if done < text.len() {
            pieces.push(Piece::Text(text[done..].to_owned()));
        }
        let sql = Sql { pieces, store: None, word: first_word(text) };
        self.push(chunk.source(0).0, Action::Sql(sql));
    }

    /// Parses the command whose backslash is right before `at`, and returns where its line ends.
    fn backslash(&mut self, at: usize) -> Result<usize, Fault> {
        let start = at - 1;
        let mut line = Line::new(self.text, at);
        let Some(command) = line.word() else { return Ok(line.at) };
        let name = command.text.to_ascii_lowercase();
        match &*name {
            "gset" => self.store(start, &name, Results::Last, &mut line)?,
            "aset" => self.store(start, &name, Results::All, &mut line)?,
            _ => {
                self.number += 1;
                self.storable = false;
                self.command(start, command, &name, &mut line)?;
            }
        }
        Ok(line.at)
    }

    fn command(
        &mut self,
        start: usize,
        command: Word<'a>,
        name: &str,
        line: &mut Line<'a>,
    ) -> Result<(), Fault> {
        match name {
            "set" => {
                let missing = "the name of a variable and an expression";
                let word = line.word().ok_or_else(|| self.missing(start, name, missing))?;
                if !Symbols::is_name(word.text) {
                    let found = word.text.to_owned();
                    return Err(Fault::new(word.at, Problem::BadName { found }));
                }
                let expr = expression(line, self.symbols, &mut self.mentions)?;
                let slot = self.symbols.define(word.text);
                self.push(start, Action::Set { slot, expr });
                return Ok(());
            }
            "if" | "elif" => {
                if name == "elif" {
                    self.branch_ends(start, false)?;
                }
                let condition = expression(line, self.symbols, &mut self.mentions)?;
                if name == "if" {
                    self.conditionals.start(start);
                }
                self.conditionals.condition(self.commands.len());
                self.push(start, Action::Branch { condition, otherwise: 0 });
                return Ok(());
            }
            "else" => self.branch_ends(start, true)?,
            "endif" => {
                let end = self.conditionals.end(&mut self.commands);
                end.map_err(|problem| Fault::new(start, problem))?;
            }
            "sleep" => {
                let sleep = self.sleep(start, line)?;
                self.push(start, Action::Sleep(sleep));
            }
            "startpipeline" => self.push(start, Action::StartPipeline),
            "syncpipeline" => self.push(start, Action::SyncPipeline),
            "endpipeline" => self.push(start, Action::EndPipeline),
            "shell" | "setshell" => {
                return Err(Fault::new(start, Problem::Shell { command: name.to_owned() }));
            }
            _ => {
                let found = command.text.to_owned();
                let hint = nearest(name, NAMES);
                return Err(Fault::new(start, Problem::UnknownCommand { found, hint }));
            }
        }
        self.end_of_line(name, line)
    }

    fn missing(&self, start: usize, command: &str, expected: &'static str) -> Fault {
        Fault::new(start, Problem::MissingArgument { command: command.to_owned(), expected })
    }

    fn end_of_line(&self, command: &str, line: &mut Line<'a>) -> Result<(), Fault> {
        let Some(word) = line.word() else { return Ok(()) };
        let (command, found) = (command.to_owned(), word.text.to_owned());
        Err(Fault::new(word.at, Problem::UnexpectedArgument { command, found }))
    }

    /// The branch of `\if` or `\elif` continues after `\endif`. The following commands run if the
    /// condition didn't hold.
    fn branch_ends(&mut self, start: usize, is_else: bool) -> Result<(), Fault> {
        let jump = self.commands.len();
        self.conditionals
            .next(&mut self.commands, jump, is_else)
            .map_err(|problem| Fault::new(start, problem))?;
        self.push(start, Action::Jump(0));
        Ok(())
    }

    fn sleep(&mut self, start: usize, line: &mut Line<'a>) -> Result<Sleep, Fault> {
        let missing = "a whole number or a :variable";
        let word = line.word().ok_or_else(|| self.missing(start, "sleep", missing))?;
        let found = || word.text.to_owned();
        let bad = || Fault::new(word.at, Problem::BadSleep { found: found() });
        let mut unit = None;
        let time = match word.text.strip_prefix(':') {
            Some(name) if Symbols::is_name(name) => {
                let slot = self.symbols.intern(name);
                self.mentions.push((slot, word.at));
                Time::Variable(slot)
            }
            Some(_) => return Err(bad()),
            None => {
                let unsigned = word.text.strip_prefix(['+', '-']).unwrap_or(word.text);
                let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
                let (number, rest) = word.text.split_at(word.text.len() - unsigned.len() + digits);
                if digits == 0 {
                    return Err(bad());
                }
                if !rest.is_empty() {
                    unit = Some(Word { text: rest, at: word.at + number.len() });
                }
                Time::Constant(number.parse().map_err(|_| bad())?)
            }
        };
        let next = line.word();
        if let (Some(_), Some(_)) = (unit, next) {
            return Err(bad());
        }
        let unit = match unit.or(next) {
            None => 1_000_000,
            Some(word) => match &*word.text.to_ascii_lowercase() {
                "us" => 1,
                "ms" => 1000,
                "s" => 1_000_000,
                _ => {
                    let found = word.text.to_owned();
                    return Err(Fault::new(word.at, Problem::BadUnit { found }));
                }
            },
        };
        Ok(Sleep { time, unit })
    }

    /// `\gset` and `\aset` are not commands of their own; they belong to the command before.
    fn store(
        &mut self,
        start: usize,
        name: &str,
        of: Results,
        line: &mut Line<'a>,
    ) -> Result<(), Fault> {
        let word = line.word();
        let prefix = word.map_or("", |word| word.text);
        if let Some(word) = word {
            if !Symbols::is_name(prefix) {
                let found = prefix.to_owned();
                return Err(Fault::new(word.at, Problem::BadName { found }));
            }
            self.end_of_line(name, line)?;
        }
        let last = self.commands.last_mut().map(|command| &mut command.action);
        let found = match last {
            Some(Action::Sql(sql)) if self.storable => {
                self.storable = false;
                sql.store = Some(Store { of, prefix: prefix.to_owned() });
                self.symbols.define_prefix(prefix);
                return Ok(());
            }
            Some(Action::Sql(Sql { store: Some(_), .. })) => "another \\gset or \\aset",
            Some(_) => "another backslash command",
            None => "none",
        };
        Err(Fault::new(start, Problem::NoStatement { command: name.to_owned(), found }))
    }
}

/// The first word, after comments and parentheses, in capitals.
fn first_word(text: &str) -> String {
    let mut rest = text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '(');
    loop {
        let after = match rest.get(..2) {
            Some("--") => rest.find('\n'),
            // A nested comment is rare enough to end up without a word.
            Some("/*") => rest.find("*/").map(|end| end + 1),
            _ => break,
        };
        rest = after.map_or("", |end| &rest[end + 1..]).trim_ascii_start();
    }
    let end = rest.bytes().take_while(|byte| continues_name(*byte)).count();
    rest[..end].to_ascii_uppercase()
}
