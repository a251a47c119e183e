//! Courier carries lines over a network that loses, doubles and reorders datagrams.
//!
//!     courier receive            # prints what comes, in its order, each line once
//!     courier send HOST < FILE   # prints how many lines it sent, and how often it repeated one
//!
//! A datagram is a number and a line; the receiver answers with the number. A line that is not
//! acknowledged is sent again, after twice the time that the one before was waited for.

use std::env;
use std::io::{self, BufRead, Write};
use std::net::UdpSocket;
use std::process::exit;
use std::time::{Duration, Instant};

const PORT: u16 = 9090;
const FIRST_WAIT: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
const MOST_BYTES: usize = 65_536;

fn main() -> io::Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["receive"] => receive(),
        ["send", host] => send(host),
        _ => {
            eprintln!("usage: courier receive | courier send HOST");
            exit(2)
        }
    }
}

fn receive() -> io::Result<()> {
    let socket = UdpSocket::bind(("0.0.0.0", PORT))?;
    println!("ready");
    let mut next = 1;
    let mut buffer = [0; MOST_BYTES];
    loop {
        let (size, sender) = socket.recv_from(&mut buffer)?;
        let text = String::from_utf8_lossy(&buffer[..size]);
        let Some((number, line)) = parse(&text) else {
            continue;
        };
        if number == next {
            println!("{line}");
            io::stdout().flush()?;
            next += 1;
        }
        if number < next {
            socket.send_to(number.to_string().as_bytes(), sender)?;
        }
    }
}

fn parse(text: &str) -> Option<(u64, &str)> {
    let (number, line) = text.split_once(' ')?;
    Some((number.parse().ok()?, line))
}

fn send(host: &str) -> io::Result<()> {
    let socket = UdpSocket::bind(("0.0.0.0", 0))?;
    socket.connect((host, PORT))?;
    let (mut sent, mut repeated) = (0, 0);
    for line in io::stdin().lock().lines() {
        sent += 1;
        repeated += deliver(&socket, sent, &line?)?;
    }
    println!("{sent} lines, {repeated} repeated");
    Ok(())
}

/// Sends a line until it is acknowledged; returns how often it was repeated.
fn deliver(socket: &UdpSocket, number: u64, line: &str) -> io::Result<u64> {
    let (mut repeated, mut wait) = (0, FIRST_WAIT);
    loop {
        // An error is that nobody listens yet, or that the link is down: wait, as for a loss.
        let _ = socket.send(format!("{number} {line}").as_bytes());
        if is_acknowledged(socket, number, wait)? {
            return Ok(repeated);
        }
        repeated += 1;
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

fn is_acknowledged(socket: &UdpSocket, number: u64, wait: Duration) -> io::Result<bool> {
    let end = Instant::now() + wait;
    let mut buffer = [0; MOST_BYTES];
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
        }
        socket.set_read_timeout(Some(left))?;
        match socket.recv(&mut buffer) {
            Ok(size) if buffer[..size] == *number.to_string().as_bytes() => return Ok(true),
            Ok(_) => (), // of a line that was repeated
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(_) => std::thread::sleep(left),
        }
    }
}
