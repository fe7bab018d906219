//! `lookalike census ip`: pages of the web from servers at random addresses, as they were recorded.

use std::io::{BufRead, BufReader, Write};

use lookalike::corpus::ListReader;
use lookalike_census::random_addresses::{Counting, Server, pages, servers};
use serde::{Deserialize, Serialize};

use super::{EstimateJson, print_json, print_notes};
use crate::args::CensusIpArgs;
use crate::exit::{Failure, Outcome};
use crate::progress::thousands;

const ASSUMED: [&str; 2] = [
    "addresses were drawn uniformly, and a server that was there answered",
    "all pages of a server were counted",
];

const UNSEEN: [&str; 2] = [
    "servers that answer only by name, and pages that no link leads to",
    "that very large sites may be missing from a small sample",
];

/// A line of the input.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    hosts: Vec<u64>,
    addresses: Option<u64>,
}

/// The object that `--json` prints. Stable.
#[derive(Serialize)]
struct Report {
    draws: u64,
    answered: u64,
    servers: Option<EstimateJson>,
    /// Pages of the host that answers, as published; of all hosts; of all hosts, each server once.
    first_host: Option<EstimateJson>,
    all_hosts: Option<EstimateJson>,
    once_per_server: Option<EstimateJson>,
    assumed: [&'static str; 2],
    unseen: [&'static str; 2],
}

pub(crate) fn run(args: &CensusIpArgs) -> Result<Outcome, Failure> {
    let found = read(args)?;
    if found.len() as u64 > args.draws || args.draws > args.space {
        return Err(Failure::Usage(format!(
            "{} servers at {} addresses drawn of {} cannot be; --draws and --space count addresses",
            found.len(),
            args.draws,
            args.space
        )));
    }
    let by = |counting: Counting| {
        let counted: Vec<f64> = found.iter().map(|server| counting.pages(server)).collect();
        pages(args.space, args.draws, &counted, args.seed).map(EstimateJson::from)
    };
    let report = Report {
        draws: args.draws,
        answered: found.len() as u64,
        servers: servers(args.space, args.draws, found.len() as u64).map(EstimateJson::from),
        first_host: by(Counting::FirstHost),
        all_hosts: by(Counting::AllHosts),
        once_per_server: by(Counting::OncePerServer),
        assumed: ASSUMED,
        unseen: UNSEEN,
    };
    if args.json {
        print_json(&report)?
    } else {
        report.print(&mut std::io::stdout().lock())?
    }
    Ok(Outcome::Done)
}

fn read(args: &CensusIpArgs) -> Result<Vec<Server>, Failure> {
    let name = args.servers.display();
    let mut found = Vec::new();
    for (number, line) in BufReader::new(ListReader::open(&args.servers)?).lines().enumerate() {
        let line = line.map_err(|error| Failure::Missing(format!("{name} cannot be read: {error}")))?;
        if line.trim().is_empty() {
            continue;
        }
        let read: Line = serde_json::from_str(&line).map_err(|error| {
            let number = number + 1;
            Failure::Missing(format!(
                "line {number} of {name} is no server: {error}; write {{\"hosts\":[PAGES,...],\"addresses\":N}}"
            ))
        })?;
        let addresses = read.addresses.unwrap_or(1);
        if addresses == 0 || addresses > args.space {
            return Err(Failure::Missing(format!(
                "line {} of {name} has a server at {addresses} addresses; there are 1 to {} of them",
                number + 1,
                args.space
            )));
        }
        found.push(Server { hosts: read.hosts, addresses });
    }
    Ok(found)
}

impl Report {
    fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        writeln!(out, "{} of {} addresses answered", thousands(self.answered), thousands(self.draws))?;
        writeln!(out, "{:<26}{:>14}   95 % interval", "", "")?;
        for (name, estimate) in [
            ("servers", &self.servers),
            ("pages, first host", &self.first_host),
            ("pages, all hosts", &self.all_hosts),
            ("pages, each server once", &self.once_per_server),
        ] {
            match estimate {
                Some(estimate) => writeln!(out, "{name:<26}{}", estimate.pages())?,
                None => writeln!(out, "{name:<26}{:>14}", "unknown")?,
            }
        }
        print_notes(out, "taken for granted:", &self.assumed)?;
        print_notes(out, "not seen:", &self.unseen)
    }
}
