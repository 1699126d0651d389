//! Reader of Callgrind's format, version 1 (valgrind's manual, "Callgrind Format Specification";
//! what that leaves open is as valgrind 3.19 writes it).
//!
//! Only the costs of functions are kept. Positions within a function, source files and jumps are
//! skipped.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;

use super::raw::{Arc, Key, NameId, Overflow, Raw};
use super::{CallgrindError, Event};

pub(super) fn parse(
    mut reader: impl BufRead,
    origin: &Path,
    event: Event,
) -> Result<Raw, CallgrindError> {
    let mut state = Reader::new(origin, event);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line).map_err(|source| CallgrindError::File {
            action: "read",
            path: origin.to_owned(),
            source,
        })?;
        if read == 0 {
            return state.end();
        }
        state.number += 1;
        state.line(String::from_utf8_lossy(&line).trim())?;
    }
}

/// Names that were given a number, `(7) main`, for later use.
type Numbered = HashMap<u64, NameId>;

/// The function of the next `calls=`.
#[derive(Default)]
struct Callee {
    object: Option<NameId>,
    name: Option<NameId>,
    /// The object was given after the name.
    object_is_newer: bool,
}

struct Reader<'a> {
    origin: &'a Path,
    /// Number of the current line, from 1.
    number: u64,
    raw: Raw,
    /// Number of positions before the costs.
    positions: usize,
    /// What is read.
    event: Event,
    /// How much each of the numbers after the positions counts; empty until they are named.
    weights: Vec<u64>,
    functions: Numbered,
    objects: Numbered,
    object: NameId,
    function: Option<NameId>,
    callee: Callee,
    /// A `calls=` line was read, and its cost line is next: calls and callee.
    call: Option<(u64, Key)>,
    /// Events of the functions since the last `totals:`.
    summed: u64,
    /// The last total comes after all costs.
    complete: bool,
}

impl<'a> Reader<'a> {
    fn new(origin: &'a Path, event: Event) -> Self {
        let mut raw = Raw::default();
        let object = raw.objects.id("???");
        Self {
            origin,
            number: 0,
            raw,
            positions: 1,
            event,
            weights: Vec::new(),
            functions: Numbered::new(),
            objects: Numbered::new(),
            object,
            function: None,
            callee: Callee::default(),
            call: None,
            summed: 0,
            complete: false,
        }
    }

    fn line(&mut self, line: &str) -> Result<(), CallgrindError> {
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            return self.costs(line);
        }
        if self.call.is_some() {
            return Err(self.wrong("the cost of the call (after calls=)", line));
        }
        match line.find([':', '=']) {
            Some(at) if line.as_bytes()[at] == b':' => {
                self.header(&line[..at], line[at + 1..].trim(), line)
            }
            Some(at) => self.specification(&line[..at], line[at + 1..].trim_start(), line),
            None => Err(self.wrong("key: value, spec=name or numbers", line)),
        }
    }

    fn header(&mut self, key: &str, value: &str, line: &str) -> Result<(), CallgrindError> {
        match key {
            "version" if number(value).is_none_or(|version| version > 1) => {
                Err(self.wrong("version 1 of the format", line))
            }
            "positions" => {
                self.positions = value.split_ascii_whitespace().count();
                Ok(())
            }
            "events" => {
                let names: Vec<&str> = value.split_ascii_whitespace().collect();
                let wanted = self.event.columns();
                if let Some((missing, _)) = wanted.iter().find(|(name, _)| !names.contains(name)) {
                    let what = format!("the event {missing} ({})", self.event.name());
                    return Err(self.wrong(what, line));
                }
                let weight = |name: &&str| wanted.iter().find(|(known, _)| known == name);
                let weights = names.iter().map(|name| weight(name).map_or(0, |(_, by)| *by));
                self.weights = weights.collect();
                Ok(())
            }
            "totals" => {
                let listed = self.weighed(value.split_ascii_whitespace(), line)?;
                self.check(listed)
            }
            // Irrelevant to costs: pid, cmd, part, thread, desc, event, creator; the format may add
            // others. Also summary, which is not always the sum: with cache simulation it includes
            // the instructions of the last block, which no function gets.
            _ if key.bytes().all(|byte| byte.is_ascii_alphanumeric()) => Ok(()),
            _ => Err(self.wrong("key: value, spec=name or numbers", line)),
        }
    }

    fn specification(&mut self, spec: &str, value: &str, line: &str) -> Result<(), CallgrindError> {
        match spec {
            "fn" => {
                self.function = Some(self.name(value, line)?);
                self.callee = Callee::default();
            }
            "ob" => self.object = self.object(value, line)?,
            "cfn" => {
                let name = self.name(value, line)?;
                // If a callee's calls cost nothing, Callgrind names it and omits the calls. The
                // object is then that callee's.
                if self.callee.name.replace(name).is_some() && !self.callee.object_is_newer {
                    self.callee.object = None;
                }
                self.callee.object_is_newer = false;
            }
            "cob" => {
                self.callee.object = Some(self.object(value, line)?);
                self.callee.object_is_newer = true;
            }
            "calls" => return self.calls(value, line),
            // Its number may be used by fn= and cfn= later.
            "jfn" => {
                self.name(value, line)?;
            }
            // Source files, and jumps: a jump is followed by a line with a position and no cost.
            "fl" | "fi" | "fe" | "cfi" | "cfl" | "jfi" | "jump" | "jcnd" => {}
            _ => return Err(self.wrong("fn=, cfn=, calls= or another key of the format", line)),
        }
        Ok(())
    }

    fn calls(&mut self, value: &str, line: &str) -> Result<(), CallgrindError> {
        let calls = value.split_ascii_whitespace().next().and_then(number);
        let callee = std::mem::take(&mut self.callee);
        self.complete = false;
        match (calls, callee.name) {
            (Some(calls), Some(name)) => {
                self.call = Some((calls, (name, callee.object.unwrap_or(self.object))));
                Ok(())
            }
            (None, _) => Err(self.wrong("calls= with a number", line)),
            (_, None) => Err(self.wrong("cfn= before calls=", line)),
        }
    }

    fn costs(&mut self, line: &str) -> Result<(), CallgrindError> {
        let mut fields = line.split_ascii_whitespace();
        for _ in 0..self.positions {
            if !fields.next().is_some_and(is_position) {
                return Err(
                    self.wrong(format!("{} position(s) before the costs", self.positions), line)
                );
            }
        }
        let cost = self.weighed(fields, line)?;
        let Some(name) = self.function else {
            return Err(self.wrong("fn= before the first costs", line));
        };
        let function = (name, self.object);
        self.complete = false;
        let added = match self.call.take() {
            Some((calls, callee)) => {
                self.raw.add_call(function, callee, Arc { calls, inclusive: cost })
            }
            None => self.raw.add_own(function, cost).map(|()| self.summed += cost),
        };
        added.map_err(|Overflow| self.wrong("sums below 2^64", line))
    }

    /// The events in a list of costs; costs at the end that are 0 may be missing.
    fn weighed<'t>(
        &self,
        fields: impl Iterator<Item = &'t str>,
        line: &str,
    ) -> Result<u64, CallgrindError> {
        if self.weights.is_empty() {
            return Err(self.wrong("events: before the first costs", line));
        }
        let mut weights = self.weights.iter();
        let mut sum: u64 = 0;
        for field in fields {
            let cost = number(field).ok_or_else(|| self.wrong("costs as numbers", line))?;
            let Some(weight) = weights.next() else {
                return Err(self.wrong(format!("at most {} cost(s)", self.weights.len()), line));
            };
            let weighed = cost.checked_mul(*weight).and_then(|cost| sum.checked_add(cost));
            sum = weighed.ok_or_else(|| self.wrong("sums below 2^64", line))?;
        }
        Ok(sum)
    }

    /// A name, `(number) name`, or the `(number)` of an earlier name.
    fn numbered(
        numbers: &mut Numbered,
        value: &str,
        intern: impl FnOnce(&str) -> NameId,
    ) -> Option<NameId> {
        let compressed = value.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        // "(below main)" is a name.
        let Some((id, name)) = compressed.and_then(|(id, name)| Some((number(id)?, name))) else {
            return (!value.is_empty()).then(|| intern(value));
        };
        match name.trim_start() {
            "" => numbers.get(&id).copied(),
            name => {
                let name = intern(name);
                numbers.insert(id, name);
                Some(name)
            }
        }
    }

    fn name(&mut self, value: &str, line: &str) -> Result<NameId, CallgrindError> {
        Self::numbered(&mut self.functions, value, |name| self.raw.names.id(name))
            .ok_or_else(|| self.wrong("a name, or the number of an earlier name", line))
    }

    fn object(&mut self, value: &str, line: &str) -> Result<NameId, CallgrindError> {
        Self::numbered(&mut self.objects, value, |name| self.raw.objects.id(name))
            .ok_or_else(|| self.wrong("an object, or the number of an earlier object", line))
    }

    /// Do the cost lines since the last total add up to this one?
    fn check(&mut self, listed: u64) -> Result<(), CallgrindError> {
        if listed != self.summed {
            return Err(CallgrindError::Sum {
                origin: self.origin.to_owned(),
                line: self.number,
                listed,
                summed: self.summed,
            });
        }
        self.summed = 0;
        self.complete = true;
        Ok(())
    }

    /// Ends the file. Callgrind writes `totals:` last, so without that line something is missing,
    /// perhaps only calls.
    fn end(self) -> Result<Raw, CallgrindError> {
        if self.complete {
            Ok(self.raw)
        } else {
            Err(self.wrong("a line totals: at the end", "the end of the file"))
        }
    }

    fn wrong(&self, expected: impl Into<String>, found: &str) -> CallgrindError {
        const SHOWN: usize = 80;
        let mut shown: String = found.chars().take(SHOWN).collect();
        if shown.len() < found.len() {
            shown.push('…');
        }
        CallgrindError::Format {
            origin: self.origin.to_owned(),
            line: self.number,
            expected: expected.into(),
            found: format!("{shown:?}"),
        }
    }
}

/// Decimal, or hexadecimal after `0x`.
fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        // The standard library would accept a sign.
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            u64::from_str_radix(digits, 16).ok()
        }
        None if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        _ => None,
    }
}

/// A number, or one relative to the last line's: `+3`, `-3`, `*` for the same.
fn is_position(text: &str) -> bool {
    text == "*" || number(text.strip_prefix(['+', '-']).unwrap_or(text)).is_some()
}
