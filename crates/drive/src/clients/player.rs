//! A client that runs pgbench scripts.
//!
//! Transactions, retries and failures follow pgbench's definitions (its manual, "Failures and
//! Serialization/Deadlock Retries").

use std::sync::Arc;
use std::time::Duration;

use script::{Action, Command, EvalError, Expr, Host, Results, Script, Slot, Sql, Store, Value};
use workload::{Rng, Scripts};

use super::gate::Gate;
use super::round::Round;
use crate::clock::Moment;
use crate::error::{Error, ErrorKind};
use crate::step::tally::Tally;
use crate::wire::{Kept, Scripted, Session};

/// A client's scripts, with the state of its variables.
#[derive(Debug)]
pub struct Player {
    scripts: Arc<Scripts>,
    /// For each script, the session's number of the statement of each command.
    statements: Vec<Vec<Option<usize>>>,
    variables: Vec<Value>,
    /// The variables when the transaction began, if it may be tried again.
    before: Vec<Value>,
    kept: Kept,
    /// True if a transaction is tried again.
    again: bool,
    /// How long the user typed and thought before the latest transaction.
    pub thought: Duration,
    /// The first transaction, and the rest of the pause before it that the step begins in.
    first: Option<(usize, Duration)>,
    /// Pauses of a user end then.
    pub last: Moment,
}

/// The time before a step in which users already typed and thought: many times the longest pause.
const BEFORE: Duration = Duration::from_secs(3600);

struct Bits<'a>(&'a mut Rng);

impl Host for Bits<'_> {
    #[inline]
    fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
}

impl Player {
    /// The scripts of a client on a session. Its statements are parsed by the server when they are
    /// first used, as pgbench does: an earlier one may create what they need.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the session runs no scripts.
    pub fn new(
        scripts: &Arc<Scripts>,
        session: &mut dyn Session,
        client: u32,
        rng: &mut Rng,
    ) -> Result<Player, Error> {
        let session = session.scripted().ok_or(Error::Unsupported("scripts need SQL"))?;
        let mut add = |command: &Command| match &command.action {
            Action::Sql(sql) => session.add(sql, scripts).map(Some),
            _ => Ok(None),
        };
        let mut statements = Vec::new();
        for (script, _) in &scripts.scripts {
            statements.push(script.commands.iter().map(&mut add).collect::<Result<_, _>>()?);
        }
        let seed = (rng.next_u64() >> 1) as i64;
        let built_in = [scripts.scale, i64::from(client), seed, seed];
        let given = scripts.given.iter().map(|(name, text)| (&**name, &**text));
        let mut player = Player {
            statements,
            variables: script::initial(&scripts.symbols, built_in, given),
            before: Vec::new(),
            kept: Kept::default(),
            again: false,
            thought: Duration::ZERO,
            first: None,
            last: Moment::NEVER,
            scripts: Arc::clone(scripts),
        };
        if scripts.thinks {
            player.first = player.in_the_midst(rng);
        }
        Ok(player)
    }

    /// Where a client that has long been typing and thinking is in it: the transaction that comes
    /// next, and the rest of the pause.
    fn in_the_midst(&mut self, rng: &mut Rng) -> Option<(usize, Duration)> {
        let mut left = BEFORE;
        loop {
            let which = self.choose(rng);
            let pause = self.pause(which, rng)?;
            match left.checked_sub(pause) {
                Some(rest) if !pause.is_zero() => left = rest,
                _ => return Some((which, pause.saturating_sub(left))),
            }
        }
    }

    /// The pause at the beginning of a script; `None` if it has none.
    fn pause(&mut self, which: usize, rng: &mut Rng) -> Option<Duration> {
        let scripts = Arc::clone(&self.scripts);
        for command in &scripts.scripts[which].0.commands {
            match &command.action {
                Action::Set { slot, expr } => {
                    self.variables[slot.index()] = self.evaluate(expr, rng).ok()?.into();
                }
                Action::Sleep(sleep) => {
                    return sleep.micros(&self.variables).ok().map(Duration::from_micros);
                }
                _ => return None,
            }
        }
        None
    }

    /// Continues on a new session, which knows no statement yet.
    ///
    /// # Errors
    /// As for [`Player::new`].
    pub fn renew(&mut self, session: &mut dyn Session) -> Result<(), Error> {
        let mut new = Player::new(&Arc::clone(&self.scripts), session, 0, &mut Rng::new(0))?;
        self.statements = std::mem::take(&mut new.statements);
        Ok(())
    }

    /// How long a transaction may take.
    pub fn limit(&self) -> Option<Duration> {
        self.scripts.latency_limit.map(Duration::from_secs_f64)
    }

    /// Runs the script of this index, as often as it may be tried.
    ///
    /// # Errors
    /// Any error that would end a client of pgbench.
    pub fn transaction(
        &mut self,
        which: usize,
        session: &mut dyn Session,
        rng: &mut Rng,
        gate: &Gate,
        tally: &mut Tally,
    ) -> Result<Round, Error> {
        let tries = self.scripts.max_tries;
        let begin = (tries != 1).then(|| (rng.clone(), gate.now()));
        if begin.is_some() {
            self.before.clone_from(&self.variables);
        }
        self.thought = Duration::ZERO;
        for attempt in 1.. {
            self.again = attempt > 1;
            let error = match self.play(which, session, rng, gate, None) {
                Ok(played) => return Ok(played),
                Err(error) => error,
            };
            let Error::Server { error: said, .. } = &error else { return Err(error) };
            if said.kind != ErrorKind::Retryable {
                return Err(error);
            }
            session.roll_back()?;
            let late = |since: Moment| self.limit().is_some_and(|it| gate.now() - since > it);
            match &begin {
                Some((random, since)) if (tries == 0 || attempt < tries) && !late(*since) => {
                    tally.retried(&error);
                    *rng = random.clone();
                    self.variables.clone_from(&self.before);
                }
                _ => {
                    tally.failed(&error);
                    return Ok(Round::Failed);
                }
            }
            if gate.stopped() {
                break;
            }
        }
        Ok(Round::Ended)
    }

    /// The index of the next script, drawn by weight.
    pub fn choose(&self, rng: &mut Rng) -> usize {
        if let Some((which, _)) = self.first {
            return which;
        }
        match &self.scripts.scripts[..] {
            [_] => 0,
            several => rng.weighted(several.iter().map(|(_, weight)| *weight)),
        }
    }

    /// Runs a script once. If it is counted, `ready` is called before each message, and nothing
    /// sleeps.
    ///
    /// # Errors
    /// The system's, [`Error::Script`] for a mistake that only running shows, and those of `ready`.
    pub fn play(
        &mut self,
        which: usize,
        session: &mut dyn Session,
        rng: &mut Rng,
        gate: &Gate,
        mut ready: Option<&mut dyn FnMut() -> Result<(), Error>>,
    ) -> Result<Round, Error> {
        let scripts = Arc::clone(&self.scripts);
        let (script, _) = &scripts.scripts[which];
        let mut rows = 0;
        // Answers that are outstanding, if a pipeline is open.
        let mut pipeline: Option<u32> = None;
        let mut at = 0;
        while let Some(command) = script.commands.get(at) {
            let statement = self.statements[which][at];
            at += 1;
            let failed = |error: EvalError| told(script, command, &error.explain(&scripts.symbols));
            match &command.action {
                Action::Set { slot, expr } => {
                    let value = self.evaluate(expr, rng).map_err(failed)?;
                    self.variables[slot.index()] = value.into();
                }
                Action::Choose { slot, index, among } => {
                    let index = self.evaluate(index, rng).map_err(failed)?;
                    let text = index.chosen(among).map_err(failed)?;
                    self.variables[slot.index()] = Value::Text(text.to_owned());
                }
                Action::Branch { condition, otherwise } => {
                    if !self.evaluate(condition, rng).map_err(failed)?.truth() {
                        at = *otherwise;
                    }
                }
                Action::Jump(to) => at = *to,
                Action::Sleep(sleep) => {
                    let micros = sleep.micros(&self.variables).map_err(failed)?;
                    if ready.is_none() && !self.sleep(Duration::from_micros(micros), gate) {
                        return Ok(Round::Ended);
                    }
                }
                Action::Sql(sql) => {
                    let (Some(session), Some(statement)) = (session.scripted(), statement) else {
                        return Err(Error::Unsupported("scripts need SQL"));
                    };
                    if let (Some(ready), None) = (&mut ready, pipeline) {
                        ready()?;
                    }
                    session.push(statement, &self.variables, pipeline.is_some())?;
                    if pipeline.is_none() {
                        rows += self.answer(session, sql, script, command)?;
                    }
                }
                Action::StartPipeline => {
                    let Some(session) = session.scripted() else { continue };
                    parse_ahead(session, &script.commands[at..], &self.statements[which][at..])?;
                    pipeline = Some(0);
                }
                Action::SyncPipeline => {
                    if let (Some(session), Some(syncs)) = (session.scripted(), &mut pipeline) {
                        session.sync();
                        *syncs += 1;
                    }
                }
                Action::EndPipeline => {
                    let (Some(session), Some(syncs)) = (session.scripted(), pipeline.take()) else {
                        continue;
                    };
                    session.sync();
                    if let Some(ready) = &mut ready {
                        ready()?;
                    }
                    rows += answers(session, syncs + 1)?;
                }
            }
        }
        if session.scripted().is_some_and(|session| session.in_transaction()) {
            let text = "the script ended inside a transaction; end it with COMMIT or ROLLBACK";
            return Err(Error::Script(format!("{}: {text}", script.name)));
        }
        Ok(Round::Done(rows))
    }

    /// Sleeps, or has the user think, but not about a transaction that is tried again; `false` if
    /// the step ends meanwhile.
    fn sleep(&mut self, pause: Duration, gate: &Gate) -> bool {
        let begin = gate.now();
        if !self.scripts.thinks {
            gate.sleep_until(begin + pause);
            return !gate.stopped();
        }
        if self.again {
            return true;
        }
        let pause = self.first.take().map_or(pause, |(_, rest)| rest);
        gate.sleep_until(self.last.min(begin + pause));
        self.thought = gate.now() - begin;
        !gate.stopped() && begin + pause <= self.last
    }

    #[inline]
    fn evaluate(&self, expr: &Expr, rng: &mut Rng) -> Result<script::Scalar, EvalError> {
        expr.evaluate(&self.variables, &mut Bits(rng))
    }

    /// Reads the answer to a command, and keeps the parts that the script needs.
    #[inline]
    fn answer(
        &mut self,
        session: &mut dyn Scripted,
        sql: &Sql,
        script: &Script,
        command: &Command,
    ) -> Result<u64, Error> {
        match &sql.store {
            None => Ok(session.results(None)?.rows.into()),
            Some(store) => {
                self.kept.clear();
                let reply = session.results(Some(&mut self.kept))?;
                self.keep(store).map_err(|text| told(script, command, &text))?;
                Ok(reply.rows.into())
            }
        }
    }

    /// Assigns columns to variables.
    #[cold]
    fn keep(&mut self, store: &Store) -> Result<(), String> {
        let results = match store.of {
            Results::All => &self.kept.results[..],
            Results::Last => {
                let last = self.kept.results.len().saturating_sub(1);
                let last = &self.kept.results[last..];
                let rows = last.first().map_or(0, |result| result.rows);
                if rows != 1 {
                    return Err(format!("\\gset: expected one row, found {rows}"));
                }
                last
            }
        };
        for result in results.iter().filter(|result| result.rows > 0) {
            for (column, value) in result.columns.iter().zip(&result.last) {
                let name = format!("{}{column}", store.prefix);
                // A column that no script mentions has no variable.
                if let Some(slot) = self.scripts.symbols.slot(&name) {
                    let value = value.as_deref().map_or(Value::given("NULL"), Value::given);
                    assign(&mut self.variables, slot, value);
                }
            }
        }
        Ok(())
    }
}

/// Parses the statements of a pipeline that begins here, because the client can't wait for answers
/// inside it.
fn parse_ahead(
    session: &mut dyn Scripted,
    commands: &[Command],
    statements: &[Option<usize>],
) -> Result<(), Error> {
    let ends = |command: &Command| matches!(command.action, Action::EndPipeline);
    let length = commands.iter().position(ends).unwrap_or(0);
    statements[..length].iter().flatten().try_for_each(|statement| session.parse(*statement))
}

/// Sends a pipeline and reads this many answers; returns the rows in them.
fn answers(session: &mut dyn Scripted, count: u32) -> Result<u64, Error> {
    session.send()?;
    let (mut rows, mut error) = (0, None);
    for _ in 0..count {
        match session.results(None) {
            Ok(reply) => rows += u64::from(reply.rows),
            // The others of its answers have to be read all the same.
            Err(said @ Error::Server { .. }) => error = error.or(Some(said)),
            Err(broken) => return Err(broken),
        }
    }
    error.map_or(Ok(rows), Err)
}

fn assign(variables: &mut [Value], slot: Slot, value: Value) {
    if let Some(variable) = variables.get_mut(slot.index()) {
        *variable = value;
    }
}

fn told(script: &Script, command: &Command, text: &str) -> Error {
    let place = command.place;
    Error::Script(format!("{}:{}:{}: {text}", script.name, place.line, place.column))
}
