//! From text to [`Expression`], by precedence climbing.

use super::super::suggest;
use super::super::value::Value;
use super::super::variables::Slot;
use super::error::{DEPTH_MAX, ExpressionError, WORDS_MAX};
use super::function::Function;
use super::token::{Token, tokens};
use super::{Arithmetic, Binary, Comparison, Expression, Unary};

impl Expression {
    /// Reads `text`; `resolve` gives the slot of a variable.
    ///
    /// # Errors
    /// When `text` is not an expression of pgbench's language, or too long.
    pub fn parse(
        text: &str,
        resolve: &mut dyn FnMut(&str) -> Slot,
    ) -> Result<Expression, ExpressionError> {
        let tokens = tokens(text)?;
        if tokens.len() > WORDS_MAX {
            return Err(ExpressionError::TooLong);
        }
        let mut parser = Parser {
            tokens,
            position: 0,
            depth: 0,
            resolve,
        };
        let expression = parser.binary(0)?;
        match parser.peek() {
            None => Ok(expression),
            Some(_) => Err(parser.unexpected("an operator or the end of the line")),
        }
    }
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    position: usize,
    depth: usize,
    resolve: &'a mut dyn FnMut(&str) -> Slot,
}

/// Precedence, loosest first: OR, AND, NOT, IS, comparisons, bits, sums, products, sign.
const NOT: u8 = 3;
const IS: u8 = 4;
const BITS: u8 = 6;
const SIGN: u8 = 9;

fn binary_of(token: &Token<'_>) -> Option<(Binary, u8)> {
    let symbol = match token {
        Token::Symbol(symbol) => *symbol,
        Token::Word(word) if word.eq_ignore_ascii_case("or") => return Some((Binary::Or, 1)),
        Token::Word(word) if word.eq_ignore_ascii_case("and") => return Some((Binary::And, 2)),
        Token::Word(_) | Token::Int(_) | Token::Double(_) | Token::Variable(_) => return None,
    };
    Some(match symbol {
        "=" => (Binary::Compare(Comparison::Equal), 5),
        "<>" | "!=" => (Binary::Compare(Comparison::NotEqual), 5),
        "<" => (Binary::Compare(Comparison::Less), 5),
        "<=" => (Binary::Compare(Comparison::LessOrEqual), 5),
        ">" => (Binary::Compare(Comparison::Greater), 5),
        ">=" => (Binary::Compare(Comparison::GreaterOrEqual), 5),
        "|" => (Binary::Compute(Arithmetic::BitOr), BITS),
        "#" => (Binary::Compute(Arithmetic::BitXor), BITS),
        "&" => (Binary::Compute(Arithmetic::BitAnd), BITS),
        "<<" => (Binary::Compute(Arithmetic::ShiftLeft), BITS),
        ">>" => (Binary::Compute(Arithmetic::ShiftRight), BITS),
        "+" => (Binary::Compute(Arithmetic::Add), 7),
        "-" => (Binary::Compute(Arithmetic::Subtract), 7),
        "*" => (Binary::Compute(Arithmetic::Multiply), 8),
        "/" => (Binary::Compute(Arithmetic::Divide), 8),
        "%" => (Binary::Compute(Arithmetic::Remainder), 8),
        _ => return None,
    })
}

impl<'a> Parser<'a> {
    /// An expression whose operators bind more tightly than `floor`.
    fn binary(&mut self, floor: u8) -> Result<Expression, ExpressionError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(ExpressionError::TooLong);
        }
        let mut left = self.prefix()?;
        loop {
            if floor < IS && self.is_null_follows() {
                left = self.null_test(left)?;
                continue;
            }
            let Some((operator, precedence)) = self.peek().and_then(binary_of) else {
                break;
            };
            if precedence <= floor {
                break;
            }
            self.position += 1;
            let right = self.binary(precedence)?;
            left = Expression::Binary(operator, Box::new([left, right]));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn prefix(&mut self) -> Result<Expression, ExpressionError> {
        let (operator, precedence) = match self.peek() {
            Some(Token::Symbol("-")) => (Unary::Negate, SIGN),
            Some(Token::Symbol("~")) => (Unary::Complement, BITS),
            Some(Token::Word(word)) if word.eq_ignore_ascii_case("not") => (Unary::Not, NOT),
            Some(Token::Symbol("+")) => {
                self.position += 1;
                return self.binary(SIGN);
            }
            _ => return self.primary(),
        };
        self.position += 1;
        let operand = self.binary(precedence)?;
        Ok(Expression::Unary(operator, Box::new(operand)))
    }

    fn primary(&mut self) -> Result<Expression, ExpressionError> {
        const WANTED: &str = "a number, a `:variable`, a function or `(`";
        let Some(token) = self.peek().cloned() else {
            return Err(self.unexpected(WANTED));
        };
        match token {
            Token::Int(value) => Ok(self.constant(Value::Int(value))),
            Token::Double(value) => Ok(self.constant(Value::Double(value))),
            Token::Variable(name) => {
                self.position += 1;
                Ok(Expression::Variable((self.resolve)(name)))
            }
            Token::Symbol("(") => {
                self.position += 1;
                let inner = self.binary(0)?;
                self.expect_symbol(")", "`)`")?;
                Ok(inner)
            }
            Token::Symbol(_) => Err(self.unexpected(WANTED)),
            Token::Word(word) => self.word(word),
        }
    }

    fn word(&mut self, word: &'a str) -> Result<Expression, ExpressionError> {
        match word.to_ascii_lowercase().as_str() {
            "true" => Ok(self.constant(Value::from(true))),
            "false" => Ok(self.constant(Value::from(false))),
            "null" => Ok(self.constant(Value::Null)),
            "case" => self.case(),
            name => self.call(name),
        }
    }

    fn constant(&mut self, value: Value) -> Expression {
        self.position += 1;
        Expression::Constant(value)
    }

    fn case(&mut self) -> Result<Expression, ExpressionError> {
        self.position += 1;
        let mut branches = Vec::new();
        while self.take_word("when") {
            let condition = self.binary(0)?;
            self.expect_word("then", "`THEN`")?;
            branches.push((condition, self.binary(0)?));
        }
        if branches.is_empty() {
            return Err(self.unexpected("`WHEN`"));
        }
        let otherwise = if self.take_word("else") {
            Some(Box::new(self.binary(0)?))
        } else {
            None
        };
        self.expect_word("end", "`WHEN`, `ELSE` or `END`")?;
        Ok(Expression::Case {
            branches,
            otherwise,
        })
    }

    fn call(&mut self, name: &str) -> Result<Expression, ExpressionError> {
        let function = Function::named(name).ok_or_else(|| ExpressionError::UnknownFunction {
            name: name.to_owned(),
            remedy: suggest::remedy(name, Function::names()),
        })?;
        self.position += 1;
        self.expect_symbol("(", "`(`")?;
        let mut arguments = Vec::new();
        if self.peek() != Some(&Token::Symbol(")")) {
            arguments.push(self.binary(0)?);
            while self.peek() == Some(&Token::Symbol(",")) {
                self.position += 1;
                arguments.push(self.binary(0)?);
            }
        }
        self.expect_symbol(")", "`,` or `)`")?;
        if function.arguments().contains(&arguments.len()) {
            return Ok(Expression::Call(function, arguments));
        }
        Err(ExpressionError::Arguments {
            name: name.to_owned(),
            given: arguments.len(),
            wanted: function.arguments_text(),
        })
    }

    fn is_null_follows(&self) -> bool {
        matches!(self.peek(), Some(Token::Word(word))
            if ["is", "isnull", "notnull"].iter().any(|known| word.eq_ignore_ascii_case(known)))
    }

    /// `IS [NOT] NULL`, `ISNULL` or `NOTNULL` behind `operand`.
    fn null_test(&mut self, operand: Expression) -> Result<Expression, ExpressionError> {
        let negated = if self.take_word("notnull") {
            true
        } else if self.take_word("isnull") {
            false
        } else {
            self.expect_word("is", "`IS`")?;
            let negated = self.take_word("not");
            self.expect_word(
                "null",
                "`NULL` (`IS TRUE` and `IS FALSE` are not supported)",
            )?;
            negated
        };
        let test = Expression::Unary(Unary::IsNull, Box::new(operand));
        Ok(if negated {
            Expression::Unary(Unary::Not, Box::new(test))
        } else {
            test
        })
    }

    fn peek(&self) -> Option<&Token<'a>> {
        self.tokens.get(self.position)
    }

    fn take_word(&mut self, wanted: &str) -> bool {
        let here =
            matches!(self.peek(), Some(Token::Word(word)) if word.eq_ignore_ascii_case(wanted));
        self.position += usize::from(here);
        here
    }

    fn expect_word(&mut self, wanted: &str, text: &'static str) -> Result<(), ExpressionError> {
        if self.take_word(wanted) {
            Ok(())
        } else {
            Err(self.unexpected(text))
        }
    }

    fn expect_symbol(&mut self, wanted: &str, text: &'static str) -> Result<(), ExpressionError> {
        match self.peek() {
            Some(Token::Symbol(symbol)) if *symbol == wanted => {
                self.position += 1;
                Ok(())
            }
            _ => Err(self.unexpected(text)),
        }
    }

    fn unexpected(&self, wanted: &'static str) -> ExpressionError {
        let found = match self.peek() {
            None => "end of line".to_owned(),
            Some(Token::Int(value)) => value.to_string(),
            Some(Token::Double(value)) => value.to_string(),
            Some(Token::Variable(name)) => format!(":{name}"),
            Some(Token::Word(word)) => (*word).to_owned(),
            Some(Token::Symbol(symbol)) => (*symbol).to_owned(),
        };
        ExpressionError::Unexpected { found, wanted }
    }
}
