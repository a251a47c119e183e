//! What courier promises, over a real UDP in virtual time.

mod session;

use session::{quote, Session};
use std::path::Path;

const PLACE: &str = "/mnt/courier";
const LINES: usize = 200;

/// Builds two hosts with a link, and starts the receiver.
fn start(seed: u64, link: &str) -> Session {
    let folder = Path::new(env!("CARGO_BIN_EXE_courier")).parent().unwrap();
    let bind = format!("{}:{PLACE}", folder.display());
    let mut network = Session::start(&[
        "--bind",
        &bind,
        "--memory",
        "512MB",
        "--seed",
        &seed.to_string(),
    ]);
    network.call("network.host", r#"{"name":"here"}"#);
    network.call("network.host", r#"{"name":"there"}"#);
    network.call(
        "network.link",
        &format!(r#"{{"a":"here","b":"there",{link}}}"#),
    );
    let receiver = format!("{PLACE}/courier receive");
    network.call(
        "node.spawn",
        &format!(r#"{{"node":"there","command":"{receiver}"}}"#),
    );
    network.call(
        "process.expect",
        r#"{"process":1,"text":"ready","timeout":"5s"}"#,
    );
    network
}

/// Starts to send the lines, as process 2.
fn send(network: &mut Session) -> String {
    let lines: String = (1..=LINES)
        .map(|n| format!("line {n}, with \"quotes\"\n"))
        .collect();
    let command = format!("{PLACE}/courier send there");
    network.call(
        "node.spawn",
        &format!(r#"{{"node":"here","command":"{command}"}}"#),
    );
    network.call(
        "process.write",
        &format!(r#"{{"process":2,"data":{}}}"#, quote(&lines)),
    );
    network.call("process.close_input", r#"{"process":2}"#);
    lines
}

/// Lets time pass until all is sent; returns what the sender said, and after which time.
fn finish(network: &mut Session) -> (String, f64) {
    let done = network.call("process.complete", r#"{"process":2,"timeout":"30min"}"#);
    assert_eq!(done.get("returncode").number(), 0.0);
    (
        done.get("stdout").text().into(),
        done.get("took_s").number(),
    )
}

fn received(network: &mut Session) -> String {
    let text = network
        .call("process.stdout", r#"{"process":1}"#)
        .text()
        .to_string();
    text.strip_prefix("ready\n").unwrap().to_string()
}

#[test]
fn a_good_link_repeats_nothing() {
    let mut network = start(1, r#""delay":"10ms""#);
    let lines = send(&mut network);
    let (said, took_s) = finish(&mut network);
    assert_eq!(said, format!("{LINES} lines, 0 repeated\n"));
    // A round trip each, and two more for ARP.
    assert!(
        (LINES as f64 * 0.02..LINES as f64 * 0.02 + 0.1).contains(&took_s),
        "{took_s} s"
    );
    assert_eq!(received(&mut network), lines);
}

#[test]
fn a_bad_link_loses_no_line_and_doubles_none() {
    for seed in 1..=3 {
        let link = r#""delay":"10ms","jitter":"8ms","loss":"20%","duplicate":"5%""#;
        let mut network = start(seed, link);
        let lines = send(&mut network);
        let (said, _) = finish(&mut network);
        assert!(!said.ends_with(" 0 repeated\n"), "seed {seed}: {said}");
        assert_eq!(received(&mut network), lines, "seed {seed}");
    }
}

#[test]
fn a_cut_of_an_hour_is_bridged() {
    let mut network = start(1, r#""delay":"10ms""#);
    let lines = send(&mut network);
    network.call("network.sleep", r#"{"duration":"1s"}"#);
    network.call("network.partition", r#"{"groups":[["here"],["there"]]}"#);
    network.call("network.sleep", r#"{"duration":"60min"}"#);
    network.call("network.heal", "{}");
    let healed_s = network.call("clock.now", "{}").number();
    finish(&mut network);
    assert_eq!(received(&mut network), lines);
    // The longest wait, and what is left of the lines.
    assert!(network.call("clock.now", "{}").number() - healed_s < 5.0 + LINES as f64 * 0.03);
}

#[test]
fn a_mistake_is_told_with_its_place() {
    let mut network = start(1, r#""delay":"10ms""#);
    let error = network
        .try_call("link.change", r#"{"link":1,"los":"5%"}"#)
        .unwrap_err();
    assert!(
        error.get("message").text().contains("did you mean 'loss'?"),
        "{error:?}"
    );
    assert_eq!(error.get("data").get("where").text(), "params");
}
