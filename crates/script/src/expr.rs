//! Expressions as they are evaluated.

use serde::{Deserialize, Serialize};

use crate::draw::Host;
use crate::function::{Function, MOST};
use crate::{EvalError, Scalar, Slot, Value};

/// A parsed expression. Parts that depend on nothing were evaluated by the parser.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Expr {
    /// A constant.
    Constant(Scalar),
    /// The value of a variable.
    Variable(Slot),
    /// A function of 0 to 16 arguments, or an operator.
    Call(Function, Box<[Expr]>),
    /// True if all operands are. The first that is false or `NULL` is the result, and no later one
    /// is evaluated. (SQL would give false if any is.)
    And(Box<[Expr]>),
    /// False if all operands are. The first that is true or `NULL` is the result, and no later one
    /// is evaluated.
    Or(Box<[Expr]>),
    /// Conditions, each followed by its result; at the end, the result if none holds.
    Case(Box<[Expr]>),
}

impl Expr {
    /// The value. Variables are indexed by [`Slot::index`]; see [`Symbols::values`].
    ///
    /// Arguments are evaluated from left to right, except that those of `>` and `>=` are swapped,
    /// as in pgbench.
    ///
    /// # Errors
    /// Where pgbench would end the client: a variable without a value, a value of the wrong type,
    /// overflow, division by zero, an argument out of bounds.
    ///
    /// [`Symbols::values`]: crate::Symbols::values
    pub fn evaluate(
        &self,
        variables: &[Value],
        host: &mut (impl Host + ?Sized),
    ) -> Result<Scalar, EvalError> {
        match self {
            Expr::Constant(scalar) => Ok(*scalar),
            Expr::Variable(slot) => match variables.get(slot.index()) {
                Some(Value::Scalar(scalar)) => Ok(*scalar),
                Some(other) => other.scalar().unwrap_or(Err(EvalError::Undefined(*slot))),
                None => Err(EvalError::Undefined(*slot)),
            },
            Expr::Call(function, arguments) => match &**arguments {
                [a, b] => {
                    let a = a.operand(variables, host)?;
                    let b = b.operand(variables, host)?;
                    function.call2(a, b, host)
                }
                [a] => function.call1(a.evaluate(variables, host)?, host),
                [a, b, c] => {
                    let a = a.evaluate(variables, host)?;
                    let b = b.evaluate(variables, host)?;
                    let c = c.evaluate(variables, host)?;
                    function.call3(a, b, c, host)
                }
                // The only function without arguments.
                [] => Ok(Scalar::Double(std::f64::consts::PI)),
                many => extreme(*function, many, variables, host),
            },
            Expr::And(parts) => chain(parts, false, variables, host),
            Expr::Or(parts) => chain(parts, true, variables, host),
            Expr::Case(parts) => {
                let mut pairs = parts.chunks_exact(2);
                for pair in &mut pairs {
                    if pair[0].evaluate(variables, host)?.truth() {
                        return pair[1].evaluate(variables, host);
                    }
                }
                match pairs.remainder() {
                    [otherwise] => otherwise.evaluate(variables, host),
                    _ => Ok(Scalar::Null),
                }
            }
        }
    }

    /// As [`Expr::evaluate`], without a call for the operands that most operators have.
    #[inline(always)]
    fn operand(
        &self,
        variables: &[Value],
        host: &mut (impl Host + ?Sized),
    ) -> Result<Scalar, EvalError> {
        match self {
            Expr::Constant(scalar) => return Ok(*scalar),
            Expr::Variable(slot) => {
                if let Some(Value::Scalar(scalar)) = variables.get(slot.index()) {
                    return Ok(*scalar);
                }
            }
            _ => {}
        }
        self.evaluate(variables, host)
    }
}

#[inline(never)]
fn extreme(
    function: Function,
    arguments: &[Expr],
    variables: &[Value],
    host: &mut (impl Host + ?Sized),
) -> Result<Scalar, EvalError> {
    let mut values = [Scalar::Null; MOST];
    let mut count = 0;
    for (value, argument) in values.iter_mut().zip(arguments) {
        *value = argument.evaluate(variables, host)?;
        count += 1;
    }
    function.extreme(&values[..count])
}

/// `AND` if it ends at the first false part, `OR` if at the first true one.
#[inline(never)]
fn chain(
    parts: &[Expr],
    end: bool,
    variables: &[Value],
    host: &mut (impl Host + ?Sized),
) -> Result<Scalar, EvalError> {
    for part in parts {
        let value = part.evaluate(variables, host)?;
        if value == Scalar::Null || value.boolean()? == end {
            return Ok(value);
        }
    }
    Ok(Scalar::Bool(!end))
}
