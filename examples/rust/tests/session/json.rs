//! As much JSON as a test needs (RFC 8259), which `longfat session` writes correctly.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Flag(bool),
    Number(f64),
    Text(String),
    List(Vec<Value>),
    Object(BTreeMap<String, Value>),
}

impl Value {
    /// The value of a field; panics if there is none.
    pub fn get(&self, name: &str) -> &Value {
        match self {
            Value::Object(fields) => &fields[name],
            _ => panic!("{self:?} is no object"),
        }
    }

    /// Whether there is a field.
    pub fn has(&self, name: &str) -> bool {
        matches!(self, Value::Object(fields) if fields.contains_key(name))
    }

    /// The text that it is; panics if it is none.
    pub fn text(&self) -> &str {
        match self {
            Value::Text(text) => text,
            _ => panic!("{self:?} is no text"),
        }
    }

    /// The number that it is; panics if it is none.
    pub fn number(&self) -> f64 {
        match self {
            Value::Number(number) => *number,
            _ => panic!("{self:?} is no number"),
        }
    }
}

/// Returns a text as JSON writes it.
pub fn quote(text: &str) -> String {
    let mut written = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => written.extend(['\\', c]),
            c if c < ' ' => written += &format!("\\u{:04x}", c as u32),
            c => written.push(c),
        }
    }
    written + "\""
}

/// Returns what a line of JSON says; panics if it is none.
pub fn parse(line: &str) -> Value {
    value(&mut line.trim().chars().peekable())
}

fn value(rest: &mut Peekable<Chars>) -> Value {
    skip_blanks(rest);
    match rest.peek().expect("more JSON") {
        '{' => object(rest),
        '[' => list(rest),
        '"' => Value::Text(text(rest)),
        _ => word(rest),
    }
}

fn object(rest: &mut Peekable<Chars>) -> Value {
    let mut fields = BTreeMap::new();
    rest.next();
    while !ends(rest, '}') {
        let name = text(rest);
        skip_blanks(rest);
        assert_eq!(rest.next(), Some(':'));
        fields.insert(name, value(rest));
    }
    Value::Object(fields)
}

fn list(rest: &mut Peekable<Chars>) -> Value {
    let mut values = Vec::new();
    rest.next();
    while !ends(rest, ']') {
        values.push(value(rest));
    }
    Value::List(values)
}

/// Whether a list or an object ends here; passes over what stands between two values.
fn ends(rest: &mut Peekable<Chars>, end: char) -> bool {
    skip_blanks(rest);
    if rest.next_if_eq(&',').is_some() {
        skip_blanks(rest);
    }
    rest.next_if_eq(&end).is_some()
}

fn text(rest: &mut Peekable<Chars>) -> String {
    rest.next();
    let mut units: Vec<u16> = Vec::new();
    loop {
        let c = match rest.next().expect("the end of a text") {
            '"' => return String::from_utf16(&units).unwrap(),
            '\\' => match rest.next().expect("an escape") {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'u' => {
                    let digits: String = rest.take(4).collect();
                    units.push(u16::from_str_radix(&digits, 16).unwrap());
                    continue;
                }
                c => c,
            },
            c => c,
        };
        units.extend(c.encode_utf16(&mut [0; 2]).iter());
    }
}

fn word(rest: &mut Peekable<Chars>) -> Value {
    let mut word = String::new();
    while let Some(c) = rest.next_if(|c| !",]} \n".contains(*c)) {
        word.push(c);
    }
    match word.as_str() {
        "null" => Value::Null,
        "true" => Value::Flag(true),
        "false" => Value::Flag(false),
        number => Value::Number(
            number
                .parse()
                .unwrap_or_else(|_| panic!("{number} in JSON")),
        ),
    }
}

fn skip_blanks(rest: &mut Peekable<Chars>) {
    while rest.next_if(|c| c.is_whitespace()).is_some() {}
}
