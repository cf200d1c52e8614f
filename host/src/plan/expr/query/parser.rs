//! Tokens to an expression, by the strength with which operators bind.
//!
//! The grammar is that of JMESPath, community edition. One thing is more: an integer may stand without backquotes where only a
//! number can be meant, as an operand of arithmetic or of a comparison, or as an argument of a function.

use super::error::Mistake;
use super::lexer::{Token, TokenKind, tokens};
use super::tree::{Comparison, Node, NodeKind, Operation, Slice};
use crate::diagnostics::codes;

/// Bytes of the longest expression.
pub(crate) const MAX_BYTES: usize = 16 << 10;
/// Levels that one nests at most: as deep goes whoever walks through it.
pub(crate) const MAX_DEPTH: usize = 64;

const PIPE: u8 = 1;
const TERNARY: u8 = 2;
const OR: u8 = 3;
const AND: u8 = 4;
const COMPARISON: u8 = 5;
const SUM: u8 = 6;
const PRODUCT: u8 = 7;
/// Weaker than a dot, so that `!a.b` is `!(a.b)`.
const NOT: u8 = 8;
const FLATTEN: u8 = 9;
/// What binds weaker ends a projection.
const PROJECTION: u8 = 10;
const STAR: u8 = 20;
const FILTER: u8 = 21;
const DOT: u8 = 40;
const BRACKET: u8 = 55;

/// Reads an expression.
pub(super) fn parse(text: &str) -> Result<Node, Mistake> {
    if text.len() > MAX_BYTES {
        let expected = format!("at most {MAX_BYTES} bytes");
        return Err(Mistake::new(codes::EXPRESSION_TOO_LARGE, 0, expected, text.len().to_string()));
    }
    let mut parser = Parser { text, tokens: tokens(text)?, next: 0, depth: 0 };
    let node = parser.expression(0)?;
    match parser.peek().kind {
        TokenKind::End => Ok(node),
        _ => Err(parser.unexpected("an operator, or the end of the expression")),
    }
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    next: usize,
    /// Calls of `expression` that are under way.
    depth: usize,
}

type Parsed = Result<Node, Mistake>;

impl Parser<'_> {
    fn peek(&self) -> &Token {
        self.ahead(0)
    }

    /// A token ahead; the last one is the end.
    fn ahead(&self, by: usize) -> &Token {
        static END: Token = Token { kind: TokenKind::End, at: 0, end: 0 };
        self.tokens.get(self.next + by).or(self.tokens.last()).unwrap_or(&END)
    }

    fn is(&self, sign: &str) -> bool {
        self.is_ahead(0, sign)
    }

    fn is_ahead(&self, by: usize, sign: &str) -> bool {
        matches!(self.ahead(by).kind, TokenKind::Sign(found) if found == sign)
    }

    fn advance(&mut self) -> Token {
        let token = self.peek().clone();
        self.next += 1;
        token
    }

    /// Takes a sign if it is there.
    fn take(&mut self, sign: &str) -> bool {
        let is = self.is(sign);
        self.next += usize::from(is);
        is
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), Mistake> {
        if self.take(sign) { Ok(()) } else { Err(self.unexpected(&format!("\"{sign}\""))) }
    }

    fn unexpected(&self, expected: &str) -> Mistake {
        let token = self.peek();
        Mistake::syntax(token.at, expected, token.shown(self.text))
    }

    fn node(&self, kind: NodeKind, token: &Token) -> Parsed {
        let node = Node::new(kind, token.at, token.end);
        if node.depth > MAX_DEPTH { Err(too_deep(token.at)) } else { Ok(node) }
    }

    /// An expression up to the first operator that doesn't bind stronger than `least`.
    fn expression(&mut self, least: u8) -> Parsed {
        if self.depth >= MAX_DEPTH {
            return Err(too_deep(self.peek().at));
        }
        self.depth += 1;
        let node = self.expression_within(least);
        self.depth -= 1;
        node
    }

    fn expression_within(&mut self, least: u8) -> Parsed {
        let mut left = self.operand(least)?;
        while self.strength() > least {
            left = self.operation(left)?;
        }
        Ok(left)
    }

    /// How strong the next token binds what is before it.
    fn strength(&self) -> u8 {
        let TokenKind::Sign(sign) = self.peek().kind else { return 0 };
        match sign {
            "|" => PIPE,
            "?" => TERNARY,
            "||" => OR,
            "&&" => AND,
            "+" | "-" => SUM,
            "*" | "/" | "%" | "//" => PRODUCT,
            "[]" => FLATTEN,
            "[?" => FILTER,
            "." => DOT,
            "[" => BRACKET,
            _ if comparison(sign).is_some() => COMPARISON,
            _ => 0,
        }
    }

    /// What an expression begins with.
    fn operand(&mut self, least: u8) -> Parsed {
        let token = self.advance();
        match &token.kind {
            TokenKind::Name(name) => match &self.peek().kind {
                TokenKind::Variable(_) if name == "let" => self.let_in(&token),
                TokenKind::Sign("(") => self.call(name, &token),
                _ => self.node(NodeKind::Field(name.clone(), false), &token),
            },
            TokenKind::Quoted(name) => {
                if self.is("(") {
                    let expected = "the name of a function without quotes";
                    return Err(Mistake::syntax(token.at, expected, token.shown(self.text)));
                }
                self.node(NodeKind::Field(name.clone(), true), &token)
            }
            TokenKind::Variable(name) => self.node(NodeKind::Variable(name.clone()), &token),
            TokenKind::Literal(json) => self.node(NodeKind::Literal(json.clone()), &token),
            TokenKind::Number(digits) => {
                let follows = self.strength();
                if least >= COMPARISON || (COMPARISON..=PRODUCT).contains(&follows) {
                    return self.number(digits, &token);
                }
                let expected = format!("a value, and a number here in backquotes, `{digits}`");
                Err(Mistake::syntax(token.at, expected, token.shown(self.text)))
            }
            TokenKind::Sign(sign) => self.operand_sign(sign, &token),
            TokenKind::End => {
                self.next -= 1;
                Err(self.unexpected("a value"))
            }
        }
    }

    /// A number without backquotes.
    fn number(&self, digits: &str, token: &Token) -> Parsed {
        let (sign, digits) = match digits.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", digits),
        };
        let digits = digits.trim_start_matches('0');
        let json = if digits.is_empty() { "0".to_owned() } else { format!("{sign}{digits}") };
        self.node(NodeKind::Literal(json), token)
    }

    fn operand_sign(&mut self, sign: &str, token: &Token) -> Parsed {
        match sign {
            "@" => self.node(NodeKind::Current, token),
            "$" => self.node(NodeKind::Root, token),
            "!" => {
                let operand = self.expression(NOT)?;
                self.node(NodeKind::Not(operand.into()), token)
            }
            "-" => {
                let operand = self.expression(SUM)?;
                self.node(NodeKind::Negate(operand.into()), token)
            }
            "+" => {
                let operand = self.expression(SUM)?;
                self.node(NodeKind::Plus(operand.into()), token)
            }
            "(" => {
                let inside = self.expression(0)?;
                self.expect(")")?;
                // What is in parentheses is a value of its own, which ends a projection.
                Ok(inside)
            }
            "*" => {
                let right =
                    if self.is("]") { Node::current(token.end) } else { self.projected(STAR)? };
                let left = Node::current(token.at);
                self.node(NodeKind::ProjectValues(left.into(), right.into()), token)
            }
            "[?" => self.filter(Node::current(token.at), token),
            "[]" => self.flatten(Node::current(token.at), token),
            "{" => self.object(token),
            "[" => {
                if matches!(self.peek().kind, TokenKind::Number(_)) || self.is(":") {
                    return self.index(Node::current(token.at), token);
                }
                if self.is("*") && self.is_ahead(1, "]") {
                    self.next += 2;
                    return self.project(Node::current(token.at), token);
                }
                self.list(token)
            }
            _ => {
                self.next -= 1;
                Err(self.unexpected("a value"))
            }
        }
    }

    /// What an operator makes of what is before it.
    fn operation(&mut self, left: Node) -> Parsed {
        let token = self.advance();
        let TokenKind::Sign(sign) = token.kind else { return Ok(left) };
        let binary = |parser: &mut Self, strength| parser.expression(strength).map(Box::new);
        let kind = match sign {
            "|" => NodeKind::Pipe(left.into(), binary(self, PIPE)?),
            "||" => NodeKind::Or(left.into(), binary(self, OR)?),
            "&&" => NodeKind::And(left.into(), binary(self, AND)?),
            "?" => {
                let then = binary(self, 0)?;
                self.expect(":")?;
                // Right-associative.
                NodeKind::Ternary(left.into(), then, binary(self, TERNARY - 1)?)
            }
            "." => {
                if self.take("*") {
                    let right = self.projected(STAR)?;
                    NodeKind::ProjectValues(left.into(), right.into())
                } else {
                    NodeKind::Sub(left.into(), self.after_dot(DOT)?.into())
                }
            }
            "[?" => return self.filter(left, &token),
            "[]" => return self.flatten(left, &token),
            "[" => {
                if matches!(self.peek().kind, TokenKind::Number(_)) || self.is(":") {
                    return self.index(left, &token);
                }
                if !self.take("*") {
                    return Err(self.unexpected("a number, \":\" or \"*\""));
                }
                self.expect("]")?;
                return self.project(left, &token);
            }
            _ => match (comparison(sign), arithmetic(sign)) {
                (Some(comparison), _) => {
                    NodeKind::Compare(comparison, left.into(), binary(self, COMPARISON)?)
                }
                (None, Some((operation, strength))) => {
                    NodeKind::Arithmetic(operation, left.into(), binary(self, strength)?)
                }
                (None, None) => return Ok(left),
            },
        };
        self.node(kind, &token)
    }

    /// What may stand after a dot.
    fn after_dot(&mut self, strength: u8) -> Parsed {
        match self.peek().kind {
            TokenKind::Name(_) | TokenKind::Quoted(_) => self.expression(strength),
            TokenKind::Sign("*") => self.expression(strength),
            TokenKind::Sign("[") => {
                let token = self.advance();
                self.list(&token)
            }
            TokenKind::Sign("{") => {
                let token = self.advance();
                self.object(&token)
            }
            _ => Err(self.unexpected("a name, \"*\", \"[\" or \"{\" after the dot")),
        }
    }

    /// What is done with each element of a projection.
    fn projected(&mut self, strength: u8) -> Parsed {
        if self.strength() < PROJECTION {
            return Ok(Node::current(self.peek().at));
        }
        if self.is("[") || self.is("[?") {
            return self.expression(strength);
        }
        self.expect(".")?;
        self.after_dot(strength)
    }

    fn project(&mut self, left: Node, token: &Token) -> Parsed {
        let right = self.projected(STAR)?;
        self.node(NodeKind::Project(left.into(), right.into()), token)
    }

    fn flatten(&mut self, left: Node, token: &Token) -> Parsed {
        let flat = self.node(NodeKind::Flatten(left.into()), token)?;
        let right = self.projected(FLATTEN)?;
        self.node(NodeKind::Project(flat.into(), right.into()), token)
    }

    fn filter(&mut self, left: Node, token: &Token) -> Parsed {
        let condition = self.expression(0)?;
        self.expect("]")?;
        let right = self.projected(FILTER)?;
        self.node(NodeKind::Filter(left.into(), condition.into(), right.into()), token)
    }

    /// `[1]` or `[1:2:3]`, after the bracket.
    fn index(&mut self, left: Node, token: &Token) -> Parsed {
        let mut parts = [None; 3];
        let mut colons = 0;
        for part in 0..parts.len() {
            if let TokenKind::Number(digits) = &self.peek().kind {
                let Ok(number) = digits.parse() else {
                    return Err(self.unexpected("an integer of 64 bits"));
                };
                if let Some(part) = parts.get_mut(part) {
                    *part = Some(number);
                }
                self.next += 1;
            }
            if self.is("]") || !self.is(":") {
                break;
            }
            if part < 2 {
                self.next += 1;
                colons += 1;
            }
        }
        let closes = self.peek().at;
        self.expect("]")?;
        let [first, stop, step] = parts;
        if colons == 0 {
            // Without a colon there is a number, or the bracket wouldn't have come here.
            let Some(index) = first else {
                return Err(Mistake::syntax(closes, "a number", None));
            };
            return self.node(NodeKind::Index(left.into(), index), token);
        }
        let step = step.unwrap_or(1);
        if step == 0 {
            let expected = "a step other than 0";
            return Err(Mistake::new(codes::INVALID_VALUE, token.at, expected, "0".to_owned()));
        }
        let slice = Slice { start: first, stop, step };
        let slice = self.node(NodeKind::Slice(left.into(), slice), token)?;
        self.project(slice, token)
    }

    /// `[a, b]`, after the bracket.
    fn list(&mut self, token: &Token) -> Parsed {
        let mut items = vec![self.expression(0)?];
        while self.take(",") {
            items.push(self.expression(0)?);
        }
        if !self.take("]") {
            return Err(self.unexpected("\",\" or \"]\""));
        }
        self.node(NodeKind::List(items), token)
    }

    /// `{a: b}`, after the brace.
    fn object(&mut self, token: &Token) -> Parsed {
        let mut members = Vec::new();
        loop {
            let key = self.advance();
            let (TokenKind::Name(name) | TokenKind::Quoted(name)) = key.kind else {
                self.next -= 1;
                return Err(self.unexpected("a key"));
            };
            self.expect(":")?;
            members.push((name, self.expression(0)?));
            if self.take("}") {
                return self.node(NodeKind::Object(members), token);
            }
            if !self.take(",") {
                return Err(self.unexpected("\",\" or \"}\""));
            }
        }
    }

    /// The arguments of a function, from the parenthesis on.
    fn call(&mut self, name: &str, token: &Token) -> Parsed {
        self.next += 1;
        let mut arguments = Vec::new();
        if !self.take(")") {
            loop {
                arguments.push(self.argument()?);
                if self.take(")") {
                    break;
                }
                if !self.take(",") {
                    return Err(self.unexpected("\",\" or \")\""));
                }
            }
        }
        self.node(NodeKind::Call(name.to_owned(), arguments), token)
    }

    fn argument(&mut self) -> Parsed {
        if self.is("&") {
            let token = self.advance();
            let inside = self.expression(0)?;
            return self.node(NodeKind::Reference(inside.into()), &token);
        }
        let token = self.peek().clone();
        if let TokenKind::Number(digits) = &token.kind
            && (self.is_ahead(1, ",") || self.is_ahead(1, ")"))
        {
            self.next += 1;
            return self.number(digits, &token);
        }
        self.expression(0)
    }

    /// `let $a = b, $c = d in e`, after the `let`.
    fn let_in(&mut self, token: &Token) -> Parsed {
        let mut bindings: Vec<(String, Node)> = Vec::new();
        loop {
            let variable = self.advance();
            let TokenKind::Variable(name) = variable.kind else {
                self.next -= 1;
                return Err(self.unexpected("a variable, like $name"));
            };
            self.expect("=")?;
            bindings.push((name, self.expression(0)?));
            if self.take(",") {
                continue;
            }
            match &self.peek().kind {
                TokenKind::Name(name) if name == "in" => self.next += 1,
                _ => return Err(self.unexpected("\",\" or \"in\"")),
            }
            let body = self.expression(0)?;
            return self.node(NodeKind::Let(bindings, body.into()), token);
        }
    }
}

fn too_deep(at: usize) -> Mistake {
    let expected = format!("at most {MAX_DEPTH} levels");
    Mistake::new(codes::TOO_DEEP, at, expected, "more".to_owned())
}

fn comparison(sign: &str) -> Option<Comparison> {
    Some(match sign {
        "==" => Comparison::Equal,
        "!=" => Comparison::NotEqual,
        "<" => Comparison::Less,
        "<=" => Comparison::LessOrEqual,
        ">" => Comparison::Greater,
        ">=" => Comparison::GreaterOrEqual,
        _ => return None,
    })
}

fn arithmetic(sign: &str) -> Option<(Operation, u8)> {
    Some(match sign {
        "+" => (Operation::Add, SUM),
        "-" => (Operation::Subtract, SUM),
        "*" => (Operation::Multiply, PRODUCT),
        "/" => (Operation::Divide, PRODUCT),
        "%" => (Operation::Modulo, PRODUCT),
        "//" => (Operation::FloorDivide, PRODUCT),
        _ => return None,
    })
}
