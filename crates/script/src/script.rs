//! A parsed script.

use serde::{Deserialize, Serialize};

use crate::{EvalError, Expr, Position, Problem, Scalar, Slot, Symbols, Value};

/// A script that can run: its commands, parsed once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Script {
    /// The name it was parsed under, for messages.
    pub name: String,
    /// Its commands, in order. `\if` and similar commands are jumps over commands, forward except
    /// in a loop ([`Script::repeat`]). A jump past the last command ends the script.
    pub commands: Vec<Command>,
    /// The variables that must have a value, except those inside quotes and comments.
    pub(crate) mentions: Vec<(Slot, Position)>,
}

impl Script {
    /// Has each `\set` of a variable assign the text of that index, from 0.
    pub fn choose(&mut self, variable: Slot, among: &[String]) {
        for Command { action, .. } in &mut self.commands {
            if let Action::Set { slot, expr } = action
                && *slot == variable
            {
                let index = std::mem::replace(expr, Expr::Constant(Scalar::Null));
                *action = Action::Choose { slot: *slot, index, among: among.to_vec() };
            }
        }
    }

    /// Makes a loop of the `\if` whose condition begins with this variable: after the last command
    /// of its branch it is evaluated again. pgbench has no loops.
    pub fn repeat(&mut self, variable: Slot) {
        let begins = |command: &Command| match &command.action {
            Action::Branch { condition: Expr::Call(_, operands), otherwise } => {
                (operands.first() == Some(&Expr::Variable(variable))).then_some(*otherwise)
            }
            _ => None,
        };
        let found = (0..).zip(&self.commands).find_map(|(at, it)| Some((at, begins(it)?)));
        let Some((begin, end)) = found else { return };
        for (at, command) in self.commands.iter_mut().enumerate() {
            let (Action::Branch { otherwise: to, .. } | Action::Jump(to)) = &mut command.action
            else {
                continue;
            };
            // Branches that end with the body go on with the jump back.
            *to += usize::from(*to > end || (*to == end && !(begin + 1..end).contains(&at)));
        }
        let (place, number) = (self.commands[begin].place, self.commands[begin].number);
        self.commands.insert(end, Command { place, number, action: Action::Jump(begin) });
    }
}

/// A step of a script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// Where it starts.
    pub place: Position,
    /// Its number in the script, from 1, as pgbench counts commands in `debug()` and messages. All
    /// commands of one `\elif` have the same number.
    pub number: u32,
    /// The action.
    pub action: Action,
}

/// The action of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Action {
    /// `\set`: assign the value of an expression.
    Set {
        /// The variable.
        slot: Slot,
        /// Its new value.
        expr: Expr,
    },
    /// Assign one of several texts. pgbench has no such command: [`Script::choose`] makes it.
    Choose {
        /// The variable.
        slot: Slot,
        /// The index of the text.
        index: Expr,
        /// The texts.
        among: Vec<String>,
    },
    /// `\if` and `\elif`: go on with the next command if the condition holds
    /// ([`Scalar::truth`]).
    Branch {
        /// The condition.
        condition: Expr,
        /// The index of the command to go on with if it doesn't hold.
        otherwise: usize,
    },
    /// The end of a branch: go on with the command of this index.
    Jump(usize),
    /// `\sleep`.
    Sleep(Sleep),
    /// A statement, or several in one message.
    Sql(Sql),
    /// `\startpipeline`: from here on send statements without waiting for their results.
    StartPipeline,
    /// `\syncpipeline`: send a Sync message, and don't wait.
    SyncPipeline,
    /// `\endpipeline`: send a Sync message and wait for all results.
    EndPipeline,
}

/// How long to sleep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sleep {
    /// The number, or the variable that holds it.
    pub time: Time,
    /// The unit in microseconds: 1, 1000 or 1,000,000.
    pub unit: u64,
}

/// The number after `\sleep`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Time {
    /// A number. A negative one means no sleep.
    Constant(i64),
    /// The value of a variable at that time.
    Variable(Slot),
}

impl Sleep {
    /// How long to sleep, in microseconds.
    ///
    /// # Errors
    /// [`EvalError::Undefined`] and [`EvalError::Sleep`] if the variable does not hold a number. As
    /// in pgbench, text after a number doesn't count: 1.9 is one.
    pub fn micros(&self, variables: &[Value]) -> Result<u64, EvalError> {
        let number = match self.time {
            Time::Constant(number) => number,
            Time::Variable(slot) => {
                let mut text = Vec::new();
                if !variables.get(slot.index()).is_some_and(|value| value.write(&mut text)) {
                    return Err(EvalError::Undefined(slot));
                }
                let text = String::from_utf8_lossy(&text);
                leading_number(&text).ok_or_else(|| EvalError::Sleep(text.into_owned()))?
            }
        };
        Ok(u64::try_from(number).unwrap_or(0).saturating_mul(self.unit))
    }
}

/// The whole number that the text starts with.
fn leading_number(text: &str) -> Option<i64> {
    let text = text.trim_ascii_start();
    let sign = text.len() - text.trim_start_matches(['+', '-']).len();
    let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
    text.get(..sign + digits)?.parse().ok()
}

/// An SQL command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sql {
    /// Its text, with its semicolon if it has one.
    pub pieces: Vec<Piece>,
    /// The variables that get its results. `None`: none.
    pub store: Option<Store>,
    /// Its first word in capitals, such as `SELECT`. Empty if it doesn't start with a word.
    pub word: String,
}

/// A part of an SQL command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Piece {
    /// Text to send as it is.
    Text(String),
    /// A variable.
    Variable {
        /// Which one.
        slot: Slot,
        /// The part of SQL that surrounds it.
        inside: Inside,
    },
}

/// The part of SQL that surrounds a part of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Inside {
    /// Neither of the others.
    Nothing,
    /// Quotes of any kind.
    Quotes,
    /// A comment.
    Comment,
}

/// `\gset` or `\aset`: results become values of variables, as text ([`Value::given`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Store {
    /// The statements whose results it stores.
    pub of: Results,
    /// The prefix of the columns' names. [`Symbols::slot`] finds the variables; it has none for
    /// columns that no script mentions.
    pub prefix: String,
}

/// Whose results are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Results {
    /// `\gset`: of the last statement, which must return one row.
    Last,
    /// `\aset`: the last row of each statement that returns some.
    All,
}

/// An SQL command whose values are sent apart from its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numbered {
    /// The text, with a mark for each of its variables.
    pub text: String,
    /// The variables in order of occurrence. One that occurs twice is two parameters.
    pub parameters: Vec<Slot>,
}

impl Sql {
    /// The most parameters that pgbench sends.
    pub const MOST_PARAMETERS: usize = 255;

    /// Appends the text for the simple protocol, with values in the place of variables, also
    /// inside quotes and comments. A variable without a value stays `:name`. Texts become
    /// `literals` in quotes, or stay as they are, as in pgbench.
    pub fn simple(
        &self,
        symbols: &Symbols,
        variables: &[Value],
        literals: bool,
        bytes: &mut Vec<u8>,
    ) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => bytes.extend_from_slice(text.as_bytes()),
                Piece::Variable { slot, .. } => match variables.get(slot.index()) {
                    Some(Value::Text(text)) if literals => {
                        bytes.extend_from_slice(
                            format!("'{}'", text.replace('\'', "''")).as_bytes(),
                        );
                    }
                    Some(value) if value.write(bytes) => {}
                    _ => {
                        bytes.push(b':');
                        bytes.extend_from_slice(symbols.name(*slot).as_bytes());
                    }
                },
            }
        }
    }

    /// The text for the extended protocol and for prepared statements. `mark` makes the mark of a
    /// variable from its number, such as `$1`.
    ///
    /// pgbench also makes parameters of names inside quotes and comments, which servers then
    /// refuse. Here, comments and names that nothing sets stay as they are.
    ///
    /// # Errors
    /// [`Problem::QuotedVariable`] and [`Problem::TooManyVariables`].
    pub fn numbered(
        &self,
        symbols: &Symbols,
        mark: impl Fn(usize) -> String,
    ) -> Result<Numbered, Problem> {
        let (mut text, mut parameters) = (String::new(), Vec::new());
        for piece in &self.pieces {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Variable { slot, inside: Inside::Nothing } => {
                    parameters.push(*slot);
                    text.push_str(&mark(parameters.len()));
                }
                Piece::Variable { slot, inside } => {
                    let name = symbols.name(*slot);
                    if *inside == Inside::Quotes && symbols.may_be_set(*slot) {
                        return Err(Problem::QuotedVariable { name: name.to_owned() });
                    }
                    text.push(':');
                    text.push_str(name);
                }
            }
        }
        let (found, limit) = (parameters.len(), Sql::MOST_PARAMETERS);
        if found > limit {
            return Err(Problem::TooManyVariables { limit, found });
        }
        Ok(Numbered { text, parameters })
    }
}

/// The values of a client's variables when its first script starts.
///
/// `given` are names, which must have been defined ([`Symbols::define`]), with their texts.
pub fn initial<'a>(
    symbols: &Symbols,
    built_in: [i64; 4],
    given: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Vec<Value> {
    let mut values = symbols.values();
    for (slot, value) in (0..).map(Slot).zip(built_in) {
        values[slot.index()] = Value::Scalar(Scalar::Int(value));
    }
    for (name, text) in given {
        if let Some(slot) = symbols.slot(name) {
            values[slot.index()] = Value::given(text);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_chosen_by_its_index() {
        let mut symbols = Symbols::new();
        let text = "\\set n 1 + :scale\n\\set other 0\nSELECT :n, :other;\n";
        let mut script = crate::parse("test", text, &mut symbols).unwrap();
        let among = ["zero", "one", "two"].map(str::to_owned);
        script.choose(symbols.slot("n").unwrap(), &among);
        let actions: Vec<_> = script.commands.iter().map(|it| &it.action).collect();
        let [Action::Choose { index, among, .. }, Action::Set { .. }, _] = actions[..] else {
            panic!("{actions:?}")
        };
        let mut variables = symbols.values();
        let mut chosen = |scale| {
            variables[Symbols::SCALE.index()] = scale;
            let index = index.evaluate(&variables, &mut || 0)?;
            index.chosen(among).map(str::to_owned)
        };
        assert_eq!(chosen(Scalar::Int(1).into()).as_deref(), Ok("two"));
        let above = EvalError::Index { count: 3, found: 3 };
        assert_eq!(chosen(Scalar::Int(2).into()), Err(above));
        assert_eq!(chosen(Scalar::Int(-2).into()), Err(EvalError::Index { count: 3, found: -1 }));
        assert!(chosen(Scalar::Null.into()).is_err());
    }

    #[test]
    fn a_loop_runs_until_its_condition_fails() {
        let mut symbols = Symbols::new();
        let text = "\\set n 0\n\\if :scale > 0\n\\if :n < :scale\n\\set n :n + 1\n\
                    \\if :n = 2\n\\set two 1\n\\endif\n\\endif\n\\else\n\\set n -1\n\\endif\n\
                    \\set end :n * 10\n";
        let mut script = crate::parse("test", text, &mut symbols).unwrap();
        let slots = ["n", "two", "end"].map(|name| symbols.define(name));
        script.repeat(slots[0]);
        for (scale, wanted) in [(3, [3, 1, 30]), (1, [1, 0, 10]), (0, [-1, 0, -10])] {
            let mut variables = symbols.values();
            variables[Symbols::SCALE.index()] = Scalar::Int(scale).into();
            variables[slots[1].index()] = Scalar::Int(0).into();
            let mut at = 0;
            while let Some(Command { action, .. }) = script.commands.get(at) {
                at += 1;
                match action {
                    Action::Set { slot, expr } => {
                        let value = expr.evaluate(&variables, &mut || 0).unwrap();
                        variables[slot.index()] = value.into();
                    }
                    Action::Branch { condition, otherwise } => {
                        if !condition.evaluate(&variables, &mut || 0).unwrap().truth() {
                            at = *otherwise;
                        }
                    }
                    Action::Jump(to) => at = *to,
                    other => panic!("{other:?}"),
                }
            }
            let found = slots.map(|slot| variables[slot.index()].scalar().unwrap().unwrap());
            assert_eq!(found, wanted.map(Scalar::Int), "{scale}");
        }
    }

    #[test]
    fn sleeps_are_whole_numbers_of_their_unit() {
        let variable = Sleep { time: Time::Variable(Slot(0)), unit: 1000 };
        let micros = |value| variable.micros(&[value]);
        assert_eq!(micros(Value::given("12")), Ok(12_000));
        assert_eq!(micros(Value::given(" 7x")), Ok(7000));
        assert_eq!(micros(Scalar::Double(1.9).into()), Ok(1000));
        assert_eq!(micros(Scalar::Int(-5).into()), Ok(0));
        assert_eq!(micros(Value::given("x")), Err(EvalError::Sleep("x".to_owned())));
        assert_eq!(micros(Value::Unset), Err(EvalError::Undefined(Slot(0))));
        let constant = Sleep { time: Time::Constant(3000), unit: 1_000_000 };
        assert_eq!(constant.micros(&[]), Ok(3_000_000_000));
    }
}
