//! The grammar of expressions: operators by precedence.

use std::slice;

use crate::error::{Fault, Problem, nearest};
use crate::function::{Arity, Function, MOST, NAMED};
use crate::token::{Line, Token};
use crate::{EvalError, Expr, Scalar, Slot, Symbols};

/// How deep expressions may be nested. Evaluation needs stack for each level, and JSON readers
/// refuse more than 128 levels, of which an expression takes three.
const DEEPEST: usize = 32;

/// How deep parentheses and the like may be nested while parsing.
const DEEPEST_PARSE: usize = 100;

/// What an expression begins with.
const OPERAND: &str = "a number, a :variable, a function or another expression";

/// Precedences, from the loosest to the tightest.
mod level {
    pub(super) const OR: u8 = 1;
    pub(super) const AND: u8 = 2;
    pub(super) const NOT: u8 = 3;
    pub(super) const IS: u8 = 4;
    pub(super) const COMPARE: u8 = 5;
    pub(super) const BITS: u8 = 6;
    pub(super) const ADD: u8 = 7;
    pub(super) const MULTIPLY: u8 = 8;
    pub(super) const UNARY: u8 = 9;
}

/// A variable that an expression mentions, with the byte of the script where it does.
pub(crate) type Mention = (Slot, usize);

/// Parses the rest of the line as an expression.
pub(crate) fn expression(
    line: &mut Line<'_>,
    symbols: &mut Symbols,
    mentions: &mut Vec<Mention>,
) -> Result<Expr, Fault> {
    let (token, at) = line.token()?;
    let mut parser = Parser { line, symbols, mentions, token, at, depth: 0 };
    let expr = parser.operators(level::OR)?;
    match parser.token {
        Token::End => Ok(expr.expr),
        _ => Err(parser.expected("an operator or the end of the line")),
    }
}

struct Parser<'a, 'b> {
    line: &'b mut Line<'a>,
    symbols: &'b mut Symbols,
    mentions: &'b mut Vec<Mention>,
    /// The next token, and where it starts.
    token: Token<'a>,
    at: usize,
    depth: usize,
}

/// An expression and how deep it is.
struct Parsed {
    expr: Expr,
    depth: usize,
}

impl From<Scalar> for Parsed {
    fn from(scalar: Scalar) -> Parsed {
        Parsed { expr: Expr::Constant(scalar), depth: 1 }
    }
}

impl<'a> Parser<'a, '_> {
    /// Goes to the next token; the end of the line stays.
    fn advance(&mut self) -> Result<(), Fault> {
        if self.token != Token::End {
            (self.token, self.at) = self.line.token()?;
        }
        Ok(())
    }

    fn expected(&self, expected: &'static str) -> Fault {
        let found = match self.token {
            Token::Int(value) => value.to_string(),
            Token::AboveMax => "9223372036854775808".to_owned(),
            Token::Double(value) => value.to_string(),
            Token::Variable(name) => format!(":{name}"),
            Token::Name(name) => name.to_owned(),
            Token::Sign(sign) => sign.to_owned(),
            Token::End => "the end of the line".to_owned(),
        };
        Fault::new(self.at, Problem::Syntax { expected, found })
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.token, Token::Name(name) if name.eq_ignore_ascii_case(word))
    }

    /// Passes the keyword if it is next.
    fn take_word(&mut self, word: &str) -> Result<bool, Fault> {
        let next = self.is_word(word);
        if next {
            self.advance()?;
        }
        Ok(next)
    }

    fn take_sign(&mut self, sign: &'static str) -> Result<bool, Fault> {
        let next = self.token == Token::Sign(sign);
        if next {
            self.advance()?;
        }
        Ok(next)
    }

    fn call(&self, function: Function, arguments: Vec<Parsed>) -> Result<Parsed, Fault> {
        let depth = self.deeper(&arguments)?;
        let arguments: Box<[Expr]> = arguments.into_iter().map(|parsed| parsed.expr).collect();
        let constant = arguments.iter().all(|expr| matches!(expr, Expr::Constant(_)));
        let expr = Expr::Call(function, arguments);
        if constant && function.is_pure() {
            // Errors stay until it is evaluated, if it is. Doubles are as precise as JSON this way.
            let value: Result<_, EvalError> = expr.evaluate(&[], &mut || 0);
            if let Ok(value @ (Scalar::Null | Scalar::Bool(_) | Scalar::Int(_))) = value {
                return Ok(value.into());
            }
        }
        Ok(Parsed { expr, depth })
    }

    fn deeper(&self, parts: &[Parsed]) -> Result<usize, Fault> {
        let depth = 1 + parts.iter().map(|part| part.depth).max().unwrap_or(0);
        if depth > DEEPEST {
            return Err(Fault::new(self.at, Problem::TooDeep { limit: DEEPEST }));
        }
        Ok(depth)
    }

    /// An operand and all operators after it that bind at least as tightly as `least`.
    fn operators(&mut self, least: u8) -> Result<Parsed, Fault> {
        if self.depth >= DEEPEST_PARSE {
            return Err(Fault::new(self.at, Problem::TooDeep { limit: DEEPEST_PARSE }));
        }
        self.depth += 1;
        let mut left = self.operand()?;
        while let Some(operator) = self.operator() {
            if operator.level < least {
                break;
            }
            self.advance()?;
            left = match operator.kind {
                Operation::Is => self.is(left)?,
                Operation::Null(negated) => self.same(left, Scalar::Null, negated)?,
                Operation::Chain(end) => {
                    let right = self.operators(operator.level + 1)?;
                    self.chain(end, left, right)?
                }
                Operation::Call { function, swapped } => {
                    let right = self.operators(operator.level + 1)?;
                    if operator.level == level::COMPARE
                        && self.operator().is_some_and(|next| next.level == level::COMPARE)
                    {
                        return Err(self.expected("parentheses around one of two comparisons"));
                    }
                    let both = if swapped { vec![right, left] } else { vec![left, right] };
                    self.call(function, both)?
                }
            };
        }
        self.depth -= 1;
        Ok(left)
    }

    /// `a OR b OR c` is one chain, and so is `a AND b AND c`.
    fn chain(&self, end: bool, left: Parsed, right: Parsed) -> Result<Parsed, Fault> {
        let depth = self.deeper(slice::from_ref(&right))?;
        let (mut parts, depth) = match left.expr {
            Expr::And(parts) if !end => (parts.into_vec(), depth.max(left.depth)),
            Expr::Or(parts) if end => (parts.into_vec(), depth.max(left.depth)),
            _ => {
                let depth = depth.max(self.deeper(slice::from_ref(&left))?);
                (vec![left.expr], depth)
            }
        };
        parts.push(right.expr);
        let parts = parts.into();
        let expr = if end { Expr::Or(parts) } else { Expr::And(parts) };
        Ok(Parsed { expr, depth })
    }

    /// Behind `IS`.
    fn is(&mut self, left: Parsed) -> Result<Parsed, Fault> {
        let negated = self.take_word("not")?;
        for (word, value) in
            [("null", Scalar::Null), ("true", Scalar::Bool(true)), ("false", Scalar::Bool(false))]
        {
            if self.take_word(word)? {
                return self.same(left, value, negated);
            }
        }
        Err(self.expected("[NOT] NULL, TRUE or FALSE after IS"))
    }

    fn same(&self, left: Parsed, value: Scalar, negated: bool) -> Result<Parsed, Fault> {
        let same = self.call(Function::Is, vec![left, value.into()])?;
        if negated { self.call(Function::Not, vec![same]) } else { Ok(same) }
    }

    fn operand(&mut self) -> Result<Parsed, Fault> {
        let (token, at) = (self.token, self.at);
        if matches!(token, Token::End | Token::AboveMax) {
            return Err(self.expected(OPERAND));
        }
        if let Token::Sign(sign) = token {
            if !matches!(sign, "(" | "+" | "-" | "~") {
                return Err(self.expected(OPERAND));
            }
            self.advance()?;
            return match sign {
                "(" => {
                    let inner = self.operators(level::OR)?;
                    if !self.take_sign(")")? {
                        return Err(self.expected("an operator or )"));
                    }
                    Ok(inner)
                }
                "+" => self.operators(level::UNARY),
                "-" if self.token == Token::AboveMax => {
                    self.advance()?;
                    Ok(Scalar::Int(i64::MIN).into())
                }
                "-" => {
                    let operand = self.operators(level::UNARY)?;
                    self.call(Function::Subtract, vec![Scalar::Int(0).into(), operand])
                }
                _ => {
                    let operand = self.operators(level::BITS + 1)?;
                    self.call(Function::BitXor, vec![Scalar::Int(-1).into(), operand])
                }
            };
        }
        self.advance()?;
        match token {
            Token::Int(value) => Ok(Scalar::Int(value).into()),
            Token::Double(value) => Ok(Scalar::Double(value).into()),
            Token::Variable(name) => {
                let slot = self.symbols.intern(name);
                self.mentions.push((slot, at));
                Ok(Parsed { expr: Expr::Variable(slot), depth: 1 })
            }
            Token::Name(name) => self.name(name, at),
            Token::Sign(_) | Token::AboveMax | Token::End => Err(self.expected(OPERAND)),
        }
    }

    /// Parses the expression that starts with this word, which is already passed.
    fn name(&mut self, name: &str, at: usize) -> Result<Parsed, Fault> {
        match &*name.to_ascii_lowercase() {
            "null" => Ok(Scalar::Null.into()),
            "true" => Ok(Scalar::Bool(true).into()),
            "false" => Ok(Scalar::Bool(false).into()),
            "not" => {
                let operand = self.operators(level::NOT)?;
                self.call(Function::Not, vec![operand])
            }
            "case" => self.case(),
            word @ ("and" | "or" | "is" | "isnull" | "notnull" | "when" | "then" | "else"
            | "end") => {
                let found = word.to_ascii_uppercase();
                Err(Fault::new(at, Problem::Syntax { expected: "an expression", found }))
            }
            word => self.function(name, word, at),
        }
    }

    fn case(&mut self) -> Result<Parsed, Fault> {
        let mut parts = Vec::new();
        while self.take_word("when")? {
            parts.push(self.operators(level::OR)?);
            if !self.take_word("then")? {
                return Err(self.expected("an operator or THEN"));
            }
            parts.push(self.operators(level::OR)?);
        }
        if parts.is_empty() {
            return Err(self.expected("WHEN after CASE"));
        }
        if self.take_word("else")? {
            parts.push(self.operators(level::OR)?);
            if !self.take_word("end")? {
                return Err(self.expected("an operator or END"));
            }
        } else if self.take_word("end")? {
            parts.push(Scalar::Null.into());
        } else {
            return Err(self.expected("an operator, WHEN, ELSE or END"));
        }
        let depth = self.deeper(&parts)?;
        let parts = parts.into_iter().map(|part| part.expr).collect();
        Ok(Parsed { expr: Expr::Case(parts), depth })
    }

    fn function(&mut self, found: &str, word: &str, at: usize) -> Result<Parsed, Fault> {
        let Some((name, function, arity)) = NAMED.iter().find(|(name, ..)| *name == word) else {
            let (found, hint) = (found.to_owned(), nearest(word, NAMED.iter().map(|it| it.0)));
            let problem = match hint.is_none() && self.token != Token::Sign("(") {
                true => Problem::Syntax { expected: OPERAND, found },
                false => Problem::UnknownFunction { found, hint },
            };
            return Err(Fault::new(at, problem));
        };
        if !self.take_sign("(")? {
            return Err(self.expected("( after the name of a function"));
        }
        let mut arguments = Vec::new();
        if self.token != Token::Sign(")") {
            // pgbench's grammar also takes a comma before the first argument.
            self.take_sign(",")?;
            arguments.push(self.operators(level::OR)?);
            while self.take_sign(",")? {
                arguments.push(self.operators(level::OR)?);
            }
        }
        if !self.take_sign(")")? {
            return Err(self.expected("an operator, a comma or )"));
        }
        let count = arguments.len();
        let expected = match arity {
            Arity::Exactly(wanted) => (count != *wanted).then(|| in_words(*wanted)),
            Arity::Seeded(2) => (!(1..=2).contains(&count)).then_some("1 or 2 arguments"),
            Arity::Seeded(_) => (!(2..=3).contains(&count)).then_some("2 or 3 arguments"),
            Arity::Any => (!(1..=MOST).contains(&count)).then_some("1 to 16 arguments"),
        };
        if let Some(expected) = expected {
            let problem = Problem::ArgumentCount { function: name, expected, found: count };
            return Err(Fault::new(at, problem));
        }
        if matches!(arity, Arity::Seeded(most) if count < *most) {
            arguments.push(Parsed { expr: Expr::Variable(Symbols::DEFAULT_SEED), depth: 1 });
        }
        self.call(*function, arguments)
    }

    /// The operator that is next after an operand.
    fn operator(&self) -> Option<Operator> {
        let call = |level, function| {
            Some(Operator { level, kind: Operation::Call { function, swapped: false } })
        };
        let swapped = |function| {
            let kind = Operation::Call { function, swapped: true };
            Some(Operator { level: level::COMPARE, kind })
        };
        let other = |level, kind| Some(Operator { level, kind });
        match self.token {
            Token::Sign(sign) => match sign {
                "+" => call(level::ADD, Function::Add),
                "-" => call(level::ADD, Function::Subtract),
                "*" => call(level::MULTIPLY, Function::Multiply),
                "/" => call(level::MULTIPLY, Function::Divide),
                "%" => call(level::MULTIPLY, Function::Modulo),
                "&" => call(level::BITS, Function::BitAnd),
                "|" => call(level::BITS, Function::BitOr),
                "#" => call(level::BITS, Function::BitXor),
                "<<" => call(level::BITS, Function::ShiftLeft),
                ">>" => call(level::BITS, Function::ShiftRight),
                "=" => call(level::COMPARE, Function::Equal),
                "<>" | "!=" => call(level::COMPARE, Function::NotEqual),
                "<" => call(level::COMPARE, Function::Less),
                "<=" => call(level::COMPARE, Function::LessOrEqual),
                ">" => swapped(Function::Less),
                ">=" => swapped(Function::LessOrEqual),
                _ => None,
            },
            Token::Name(name) => match &*name.to_ascii_lowercase() {
                "and" => other(level::AND, Operation::Chain(false)),
                "or" => other(level::OR, Operation::Chain(true)),
                "is" => other(level::IS, Operation::Is),
                "isnull" => other(level::IS, Operation::Null(false)),
                "notnull" => other(level::IS, Operation::Null(true)),
                _ => None,
            },
            _ => None,
        }
    }
}

struct Operator {
    level: u8,
    kind: Operation,
}

enum Operation {
    Call {
        function: Function,
        swapped: bool,
    },
    /// `OR` ends at the first true part, `AND` at the first false one.
    Chain(bool),
    Is,
    /// `ISNULL`, or negated `NOTNULL`.
    Null(bool),
}

fn in_words(arguments: usize) -> &'static str {
    match arguments {
        0 => "no arguments",
        1 => "1 argument",
        2 => "2 arguments",
        _ => "3 arguments",
    }
}
