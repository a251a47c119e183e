//! A live network of longfat: a client of `longfat session`, by the standard library alone.
//!
//! JSON-RPC 2.0, one message a line. Parameters are written as JSON; of answers, `json` reads what
//! a test needs. With serde_json in a project, use that.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

#[path = "json.rs"]
pub mod json;
pub use json::{quote, Value};

/// A live network in a machine of its own, which ends with it.
pub struct Session {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Session {
    /// Boots a machine; the arguments are those of `longfat session`.
    pub fn start(arguments: &[&str]) -> Session {
        let program = env::var("LONGFAT").unwrap_or("longfat".into());
        let mut child = Command::new(&program)
            .arg("session")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{program} cannot be started: {error}"));
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut session = Session {
            child,
            input,
            output,
            last: 0,
        };
        session.read(); // the message "ready"
        session
    }

    /// Makes a call with parameters in JSON; returns its result, or the error of the answer.
    pub fn try_call(&mut self, method: &str, params: &str) -> Result<Value, Value> {
        self.last += 1;
        let id = self.last;
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        writeln!(self.input.as_mut().unwrap(), "{line}").expect("the session has ended");
        loop {
            let answer = self.read();
            if answer.has("method") {
                continue; // such as "output"
            }
            return match answer.has("error") {
                true => Err(answer.get("error").clone()),
                false => Ok(answer.get("result").clone()),
            };
        }
    }

    /// Makes a call; panics if it cannot be done.
    pub fn call(&mut self, method: &str, params: &str) -> Value {
        self.try_call(method, params)
            .unwrap_or_else(|error| panic!("{method}: {}", error.get("message").text()))
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "the session has ended");
        json::parse(&line)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}
