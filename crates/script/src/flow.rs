//! Checks that commands are in an order that makes sense: nesting of `\if`, pipelines, variables.

use crate::error::nearest;
use crate::{Action, Command, Position, Problem, Script, ScriptError, Symbols};

/// How statements are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// As text with values in it.
    Simple,
    /// With parameters, prepared or not.
    Extended,
}

/// The `\if`s that are open while parsing.
#[derive(Debug, Default)]
pub(crate) struct Conditionals(Vec<Open>);

#[derive(Debug)]
struct Open {
    /// Where its backslash is.
    at: usize,
    /// The branch that goes to the next `\elif`, `\else` or `\endif` if its condition fails.
    branch: Option<usize>,
    /// The jumps that go to `\endif`.
    jumps: Vec<usize>,
    after_else: bool,
}

impl Conditionals {
    /// Where the innermost one is that isn't ended.
    pub(crate) fn open(&self) -> Option<usize> {
        self.0.last().map(|open| open.at)
    }

    pub(crate) fn start(&mut self, at: usize) {
        self.0.push(Open { at, branch: None, jumps: Vec::new(), after_else: false });
    }

    /// The next command is the branch of the innermost one.
    pub(crate) fn condition(&mut self, command: usize) {
        if let Some(open) = self.0.last_mut() {
            open.branch = Some(command);
        }
    }

    /// `\elif` or `\else`; the command of index `jump` will be a jump to the end.
    pub(crate) fn next(
        &mut self,
        commands: &mut [Command],
        jump: usize,
        is_else: bool,
    ) -> Result<(), Problem> {
        let name = if is_else { "\\else without \\if" } else { "\\elif without \\if" };
        let open = self.0.last_mut().ok_or(Problem::Nesting(name))?;
        if open.after_else {
            let name = if is_else { "a second \\else" } else { "\\elif after \\else" };
            return Err(Problem::Nesting(name));
        }
        open.jumps.push(jump);
        open.after_else = is_else;
        land(commands, open.branch.take(), jump + 1);
        Ok(())
    }

    pub(crate) fn end(&mut self, commands: &mut [Command]) -> Result<(), Problem> {
        let open = self.0.pop().ok_or(Problem::Nesting("\\endif without \\if"))?;
        let behind = commands.len();
        for command in open.jumps.into_iter().chain(open.branch) {
            land(commands, Some(command), behind);
        }
        Ok(())
    }
}

/// Makes a branch or jump go to a command.
fn land(commands: &mut [Command], command: Option<usize>, to: usize) {
    match command.and_then(|index| commands.get_mut(index)).map(|command| &mut command.action) {
        Some(Action::Branch { otherwise, .. }) => *otherwise = to,
        Some(Action::Jump(target)) => *target = to,
        _ => {}
    }
}

/// The state of a pipeline before a command: it may be open, may be closed, or both.
#[derive(Debug, Clone, Copy, Default)]
struct Pipeline {
    open: bool,
    closed: bool,
}

/// Refuses pipelines that are wrong on any way through the conditions. All jumps go forwards,
/// so one pass sees every way.
pub(crate) fn check_pipelines(script: &Script) -> Result<(), ScriptError> {
    let commands = &script.commands;
    let mut before = vec![Pipeline::default(); commands.len() + 1];
    before[0].closed = true;
    let mut started = Position { line: 1, column: 1 };
    for (index, command) in commands.iter().enumerate() {
        let state = before[index];
        let surely_open = state.open && !state.closed;
        let surely_closed = state.closed && !state.open;
        let wrong = match &command.action {
            Action::StartPipeline if surely_open => Some("\\startpipeline inside a pipeline"),
            Action::SyncPipeline if surely_closed => Some("\\syncpipeline outside of a pipeline"),
            Action::EndPipeline if surely_closed => Some("\\endpipeline without \\startpipeline"),
            Action::Sql(sql) if surely_open && sql.store.is_some() => {
                Some("\\gset and \\aset are not allowed in a pipeline, which has no results yet")
            }
            _ => None,
        };
        if let Some(wrong) = wrong {
            return Err(error(script, command.place, Problem::Pipeline(wrong)));
        }
        let after = match &command.action {
            Action::StartPipeline => {
                started = command.place;
                Pipeline { open: true, closed: false }
            }
            Action::EndPipeline => Pipeline { open: false, closed: true },
            _ => state,
        };
        let (next, other) = match command.action {
            Action::Jump(to) => (None, Some(to)),
            Action::Branch { otherwise, .. } => (Some(index + 1), Some(otherwise)),
            _ => (Some(index + 1), None),
        };
        for to in next.into_iter().chain(other) {
            if let Some(reached) = before.get_mut(to) {
                reached.open |= after.open;
                reached.closed |= after.closed;
            }
        }
    }
    match before[commands.len()] {
        Pipeline { open: true, closed: false } => {
            let problem = Problem::Pipeline("this \\startpipeline has no \\endpipeline");
            Err(error(script, started, problem))
        }
        _ => Ok(()),
    }
}

fn error(script: &Script, place: Position, problem: Problem) -> ScriptError {
    ScriptError { file: script.name.clone(), place, problem }
}

/// Checks the scripts of a workload together: that all variables they mention get a value from one
/// of them, from pgbench or from the user ([`Symbols::define`]), and that all commands can be sent
/// with this protocol.
///
/// Names of columns are unknown until a query has run. Under `\gset prefix` and `\aset prefix`
/// every variable that begins with the prefix may get a value. Names inside quotes and comments
/// need none.
///
/// # Errors
/// The first mistake of the first script that has one.
pub fn check(scripts: &[Script], symbols: &Symbols, protocol: Protocol) -> Result<(), ScriptError> {
    for script in scripts {
        for (slot, place) in &script.mentions {
            if !symbols.may_be_set(*slot) {
                let name = symbols.name(*slot).to_owned();
                let hint = nearest(&name, symbols.defined());
                return Err(error(script, *place, Problem::MissingVariable { name, hint }));
            }
        }
        for command in &script.commands {
            let problem = match (&command.action, protocol) {
                (Action::StartPipeline, Protocol::Simple) => Err(Problem::Pipeline(
                    "the simple protocol has no pipelines; choose extended or prepared",
                )),
                (Action::Sql(sql), Protocol::Extended) => {
                    sql.numbered(symbols, |_| String::new()).map(drop)
                }
                _ => Ok(()),
            };
            problem.map_err(|problem| error(script, command.place, problem))?;
        }
    }
    Ok(())
}
