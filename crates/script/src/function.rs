//! The functions and operators of expressions.

use serde::{Deserialize, Serialize};

use crate::draw::{Host, Range};
use crate::hash::{fnv1a, murmur2, permute};
use crate::{EvalError, Scalar};

/// A function or operator all of whose arguments are evaluated first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "they are called what they are called in scripts")]
pub enum Function {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    /// `IS NULL`, `IS TRUE`, `IS FALSE`: same type and same value.
    Is,
    Not,
    Abs,
    Debug,
    Double,
    Exp,
    Greatest,
    HashFnv1a,
    HashMurmur2,
    Int,
    Least,
    Ln,
    Permute,
    Pi,
    Power,
    Random,
    RandomExponential,
    RandomGaussian,
    RandomZipfian,
    Sqrt,
}

/// How many arguments a function takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arity {
    Exactly(usize),
    /// The last one may be left out: then it is `:default_seed`.
    Seeded(usize),
    /// 1 to [`MOST`].
    Any,
}

/// The most arguments that pgbench passes to `least` and `greatest`.
pub(crate) const MOST: usize = 16;

/// The functions that can be called by a name.
pub(crate) const NAMED: [(&str, Function, Arity); 21] = [
    ("abs", Function::Abs, Arity::Exactly(1)),
    ("debug", Function::Debug, Arity::Exactly(1)),
    ("double", Function::Double, Arity::Exactly(1)),
    ("exp", Function::Exp, Arity::Exactly(1)),
    ("greatest", Function::Greatest, Arity::Any),
    ("hash", Function::HashMurmur2, Arity::Seeded(2)),
    ("hash_fnv1a", Function::HashFnv1a, Arity::Seeded(2)),
    ("hash_murmur2", Function::HashMurmur2, Arity::Seeded(2)),
    ("int", Function::Int, Arity::Exactly(1)),
    ("least", Function::Least, Arity::Any),
    ("ln", Function::Ln, Arity::Exactly(1)),
    ("mod", Function::Modulo, Arity::Exactly(2)),
    ("permute", Function::Permute, Arity::Seeded(3)),
    ("pi", Function::Pi, Arity::Exactly(0)),
    ("pow", Function::Power, Arity::Exactly(2)),
    ("power", Function::Power, Arity::Exactly(2)),
    ("random", Function::Random, Arity::Exactly(2)),
    ("random_exponential", Function::RandomExponential, Arity::Exactly(3)),
    ("random_gaussian", Function::RandomGaussian, Arity::Exactly(3)),
    ("random_zipfian", Function::RandomZipfian, Arity::Exactly(3)),
    ("sqrt", Function::Sqrt, Arity::Exactly(1)),
];

impl Function {
    /// True if it always returns the same value for the same arguments, and does nothing else.
    pub(crate) fn is_pure(self) -> bool {
        !matches!(
            self,
            Function::Debug
                | Function::Random
                | Function::RandomExponential
                | Function::RandomGaussian
                | Function::RandomZipfian
        )
    }

    /// True if it is evaluated for `NULL` too. All others return `NULL` then.
    #[inline]
    fn takes_null(self) -> bool {
        matches!(self, Function::Is | Function::Debug)
    }

    pub(crate) fn call1(
        self,
        a: Scalar,
        host: &mut (impl Host + ?Sized),
    ) -> Result<Scalar, EvalError> {
        if a == Scalar::Null && !self.takes_null() {
            return Ok(Scalar::Null);
        }
        Ok(match self {
            Function::Not => Scalar::Bool(!a.boolean()?),
            Function::Abs => match a {
                Scalar::Int(value) => Scalar::Int(value.wrapping_abs()),
                other => Scalar::Double(other.double()?.abs()),
            },
            Function::Debug => {
                host.debug(a);
                a
            }
            Function::Double => Scalar::Double(a.double()?),
            Function::Sqrt => Scalar::Double(a.double()?.sqrt()),
            Function::Ln => Scalar::Double(a.double()?.ln()),
            Function::Exp => Scalar::Double(a.double()?.exp()),
            Function::Int => Scalar::Int(a.int()?),
            _ => self.extreme(&[a])?,
        })
    }

    #[inline]
    pub(crate) fn call2(
        self,
        a: Scalar,
        b: Scalar,
        host: &mut (impl Host + ?Sized),
    ) -> Result<Scalar, EvalError> {
        if let (Scalar::Int(a), Scalar::Int(b)) = (a, b) {
            match self {
                Function::Random => {
                    return range(a, b).map(|range| Scalar::Int(range.uniform(host)));
                }
                Function::Multiply => {
                    let product = a.checked_mul(b).ok_or(EvalError::Overflow("*"));
                    return product.map(Scalar::Int);
                }
                _ => {}
            }
        }
        self.call2_any(a, b, host)
    }

    #[inline(never)]
    fn call2_any(
        self,
        a: Scalar,
        b: Scalar,
        host: &mut (impl Host + ?Sized),
    ) -> Result<Scalar, EvalError> {
        if (a == Scalar::Null || b == Scalar::Null) && !self.takes_null() {
            return Ok(Scalar::Null);
        }
        let is_double = |scalar| matches!(scalar, Scalar::Double(_));
        match self {
            Function::Is => Ok(Scalar::Bool(a == b)),
            Function::Power => Ok(Scalar::Double(a.double()?.powf(b.double()?))),
            Function::Least | Function::Greatest => self.extreme(&[a, b]),
            Function::Add
            | Function::Subtract
            | Function::Multiply
            | Function::Divide
            | Function::Equal
            | Function::NotEqual
            | Function::Less
            | Function::LessOrEqual
                if is_double(a) || is_double(b) =>
            {
                Ok(self.doubles(a.double()?, b.double()?))
            }
            _ => self.integers(a.int()?, b.int()?, host),
        }
    }

    #[allow(clippy::float_cmp, reason = "as pgbench compares")]
    fn doubles(self, a: f64, b: f64) -> Scalar {
        match self {
            Function::Add => Scalar::Double(a + b),
            Function::Subtract => Scalar::Double(a - b),
            Function::Multiply => Scalar::Double(a * b),
            Function::Divide => Scalar::Double(a / b),
            Function::Equal => Scalar::Bool(a == b),
            Function::NotEqual => Scalar::Bool(a != b),
            Function::Less => Scalar::Bool(a < b),
            _ => Scalar::Bool(a <= b),
        }
    }

    fn integers(
        self,
        a: i64,
        b: i64,
        host: &mut (impl Host + ?Sized),
    ) -> Result<Scalar, EvalError> {
        let checked = |result: Option<i64>, sign| result.ok_or(EvalError::Overflow(sign));
        Ok(Scalar::Int(match self {
            Function::Equal => return Ok(Scalar::Bool(a == b)),
            Function::NotEqual => return Ok(Scalar::Bool(a != b)),
            Function::Less => return Ok(Scalar::Bool(a < b)),
            Function::LessOrEqual => return Ok(Scalar::Bool(a <= b)),
            Function::Add => checked(a.checked_add(b), "+")?,
            Function::Subtract => checked(a.checked_sub(b), "-")?,
            Function::Multiply => checked(a.checked_mul(b), "*")?,
            Function::Divide | Function::Modulo if b == 0 => return Err(EvalError::DivisionByZero),
            Function::Divide => checked(a.checked_div(b), "/")?,
            // The smallest number modulo -1 is 0 too.
            Function::Modulo => a.wrapping_rem(b),
            Function::BitAnd => a & b,
            Function::BitOr => a | b,
            Function::BitXor => a ^ b,
            // Only the lowest six bits of the distance count, as on x86 and ARM.
            Function::ShiftLeft => a.wrapping_shl(b as u32),
            Function::ShiftRight => a.wrapping_shr(b as u32),
            Function::HashFnv1a => fnv1a(a, b),
            Function::HashMurmur2 => murmur2(a, b),
            _ => range(a, b)?.uniform(host),
        }))
    }

    pub(crate) fn call3(
        self,
        a: Scalar,
        b: Scalar,
        c: Scalar,
        host: &mut (impl Host + ?Sized),
    ) -> Result<Scalar, EvalError> {
        if [a, b, c].contains(&Scalar::Null) {
            return Ok(Scalar::Null);
        }
        let within = |holds: bool, function, bounds, found| {
            if holds { Ok(()) } else { Err(EvalError::Parameter { function, bounds, found }) }
        };
        let drawn = match self {
            Function::Permute => {
                let (value, size, seed) = (a.int()?, b.int()?, c.int()?);
                if size <= 0 {
                    return Err(EvalError::PermuteSize(size));
                }
                permute(value, size, seed)
            }
            Function::RandomExponential => {
                let (range, parameter) = (range(a.int()?, b.int()?)?, c.double()?);
                within(parameter > 0.0, "random_exponential", "above 0", parameter)?;
                range.exponential(host, parameter)
            }
            Function::RandomGaussian => {
                let (range, parameter) = (range(a.int()?, b.int()?)?, c.double()?);
                within(parameter >= 2.0, "random_gaussian", "of at least 2", parameter)?;
                range.gaussian(host, parameter)
            }
            Function::RandomZipfian => {
                let (range, parameter) = (range(a.int()?, b.int()?)?, c.double()?);
                let holds = (1.001..=1000.0).contains(&parameter);
                within(holds, "random_zipfian", "from 1.001 to 1000", parameter)?;
                range.zipfian(host, parameter)
            }
            _ => return self.extreme(&[a, b, c]),
        };
        Ok(Scalar::Int(drawn))
    }

    /// The smallest or largest of one or more values; a double if any of them is.
    pub(crate) fn extreme(self, values: &[Scalar]) -> Result<Scalar, EvalError> {
        if values.contains(&Scalar::Null) {
            return Ok(Scalar::Null);
        }
        let least = self == Function::Least;
        if values.iter().any(|value| matches!(value, Scalar::Double(_))) {
            let mut extreme = values[0].double()?;
            for value in &values[1..] {
                let value = value.double()?;
                // C's macros: if the comparison fails for a NaN, the later value wins.
                let keep = if least { extreme < value } else { extreme > value };
                extreme = if keep { extreme } else { value };
            }
            return Ok(Scalar::Double(extreme));
        }
        let mut extreme = values[0].int()?;
        for value in &values[1..] {
            let value = value.int()?;
            extreme = if least { extreme.min(value) } else { extreme.max(value) };
        }
        Ok(Scalar::Int(extreme))
    }
}

#[inline]
fn range(min: i64, max: i64) -> Result<Range, EvalError> {
    if min > max {
        return Err(EvalError::EmptyRange { min, max });
    }
    match max.checked_sub(min).and_then(|span| span.checked_add(1)) {
        Some(_) => Ok(Range { min, max }),
        None => Err(EvalError::RangeTooLarge { min, max }),
    }
}
