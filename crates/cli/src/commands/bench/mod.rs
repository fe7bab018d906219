//! `lookalike bench serve`: how fast, and how right, a running service answers.

mod client;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lookalike::generate::{Documents, Plan};
use lookalike::model::{Document, Media};
use lookalike::text::extract::{ContentMode, Extractor};
use lookalike::text::{Analyser, Features, Profile};
use lookalike::walk::Watch;
use serde::{Deserialize, Serialize};

use self::client::{Client, Reply};
use crate::args::{BenchCommand, BenchServeArgs};
use crate::console::tell;
use crate::exit::{Failure, Outcome};
use crate::progress::thousands;

/// Documents of the generated corpus that is sent.
const DOCUMENTS: u64 = 1_000_000;
/// One request in this number sends a document again.
const AGAIN: u64 = 10;
/// The most mistakes that are reported one by one.
const TOLD: u64 = 10;

pub(crate) fn run(command: &BenchCommand, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let BenchCommand::Serve(args) = command;
    match &args.check {
        Some(list) => check(args, list, watch),
        None => load(args, watch),
    }
}

/// The state that all clients share.
struct Load<'l> {
    args: &'l BenchServeArgs,
    token: Option<String>,
    watch: &'l Watch,
    begun: Instant,
    /// The number of the next request.
    next: AtomicU64,
    acknowledged: Option<Mutex<BufWriter<File>>>,
}

/// The measurements of one client.
#[derive(Debug, Default)]
struct Seen {
    /// Microseconds that each request took.
    micros: Vec<u32>,
    statuses: Vec<u64>,
    new: u64,
    again: u64,
    reconnected: u64,
    mistakes: u64,
}

/// The answer of the service for one document.
#[derive(Debug, Deserialize)]
struct Added {
    id: String,
    new: bool,
}

/// The figures that are printed.
#[derive(Debug, Default, Serialize)]
struct Told {
    clients: usize,
    seconds: f64,
    requests: u64,
    acknowledged: u64,
    new: u64,
    sent_again: u64,
    refused: u64,
    failed: u64,
    reconnected: u64,
    mistakes: u64,
    per_second: f64,
    p50_ms: f64,
    p90_ms: f64,
    p99_ms: f64,
    max_ms: f64,
}

/// A document as it is sent.
#[derive(Clone, Serialize)]
struct Sent {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    html: Option<String>,
}

fn token(args: &BenchServeArgs) -> Result<Option<String>, Failure> {
    let Some(path) = &args.token_file else { return Ok(None) };
    let failed = |error| Failure::Missing(format!("{} cannot be read: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(failed)?;
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let none = || Failure::Usage(format!("{} has no token", path.display()));
    lines.next().map(str::to_owned).ok_or_else(none).map(Some)
}

fn load(args: &BenchServeArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let acknowledged = match &args.acknowledged {
        None => None,
        Some(path) => {
            let failed = |error| Failure::Missing(format!("{} cannot be written: {error}", path.display()));
            Some(Mutex::new(BufWriter::new(File::create(path).map_err(failed)?)))
        }
    };
    let load = Load {
        args,
        token: token(args)?,
        watch,
        begun: Instant::now(),
        next: AtomicU64::new(0),
        acknowledged,
    };
    let clients = args.clients.get();
    let seen: Vec<Result<Seen, Failure>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients).map(|_| scope.spawn(|| load.client())).collect();
        let lost = || Err(Failure::Missing("a client failed".to_owned()));
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| lost())).collect()
    });
    let seconds = load.begun.elapsed().as_secs_f64();
    let mut all = Seen::default();
    for seen in seen {
        all.add(seen?);
    }
    if let Some(list) = load.acknowledged {
        list.into_inner().expect("nobody panics with it").flush()?;
    }
    all.print(args, seconds)?;
    if all.mistakes > 0 {
        return Err(Failure::Missing(format!("the service answered wrongly {} times", all.mistakes)));
    }
    Ok(Outcome::Done)
}

impl Load<'_> {
    fn is_over(&self, number: u64) -> bool {
        self.watch.stopped()
            || self.args.requests.is_some_and(|most| number >= most)
            || self.begun.elapsed() >= Duration::from_secs(self.args.seconds)
    }

    fn client(&self) -> Result<Seen, Failure> {
        let mut client = Client::new(&self.args.address, self.token.as_deref(), self.args.patience);
        let mut documents = Plan { documents: DOCUMENTS, seed: self.args.seed }.documents();
        let (mut seen, mut words) = (Seen::default(), Words::default());
        // A document that this client knows to be there.
        let mut known: Option<Sent> = None;
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if self.is_over(number) {
                return Ok(seen);
            }
            let id = format!("bench-{}-{number}", self.args.seed);
            let again = known.clone().filter(|_| number.is_multiple_of(AGAIN));
            let sent = match &again {
                Some(sent) => Sent { id: id.clone(), ..sent.clone() },
                None => sent(&mut documents, number, &id),
            };
            let body = serde_json::to_vec(&sent).expect("text can be written");
            let begun = Instant::now();
            let reply = client.send("POST", "/v1/documents", Some(&body))?;
            seen.micros.push(begun.elapsed().as_micros().min(u128::from(u32::MAX)) as u32);
            seen.reconnected = client.reconnected;
            if seen.judge(&reply, &id, again.is_some()) {
                self.acknowledge(&id)?;
                // What has no words is never a near-duplicate.
                known = Some(sent).filter(|sent| words.has(sent)).or(known);
            }
        }
    }

    fn acknowledge(&self, id: &str) -> Result<(), Failure> {
        match &self.acknowledged {
            Some(list) => Ok(writeln!(list.lock().expect("nobody panics with it"), "{id}")?),
            None => Ok(()),
        }
    }
}

/// Tells documents that have words.
struct Words {
    extractor: Extractor,
    analyser: Analyser,
    features: Features,
}

impl Default for Words {
    fn default() -> Self {
        let analyser = Analyser::new(&Profile::web());
        Words { extractor: Extractor::default(), analyser, features: Features::default() }
    }
}

impl Words {
    fn has(&mut self, sent: &Sent) -> bool {
        let (media, content) = match (&sent.text, &sent.html) {
            (Some(text), _) => (Media::Text, text),
            (None, html) => (Media::Html, html.as_ref().unwrap_or(&sent.id)),
        };
        let document = Document::alone(&sent.id, None, media, content);
        let text = self.extractor.extract(&document, ContentMode::Page).text;
        self.analyser.read(text, &mut self.features);
        !self.features.is_empty()
    }
}

/// A generated document under another id.
fn sent(documents: &mut Documents, number: u64, id: &str) -> Sent {
    let page = documents.get(number % DOCUMENTS).expect("a plan has as many documents as it says");
    let content = Some(page.content.to_owned());
    let (text, html) = if page.media == Media::Html { (None, content) } else { (content, None) };
    Sent { id: id.to_owned(), text, html }
}

impl Seen {
    /// Counts a reply; true when the document was acknowledged.
    fn judge(&mut self, reply: &Reply, id: &str, again: bool) -> bool {
        let place = usize::from(reply.status);
        if self.statuses.len() <= place {
            self.statuses.resize(place + 1, 0);
        }
        self.statuses[place] += 1;
        if reply.status != 200 {
            return false;
        }
        let added: Result<Added, _> = serde_json::from_slice(&reply.body);
        let right = match &added {
            Err(_) => false,
            Ok(added) if added.id != id => false,
            Ok(added) if again => !added.new,
            Ok(_) => true,
        };
        if !right {
            self.mistakes += 1;
            if self.mistakes <= TOLD {
                tell(format_args!("wrong answer to {id}: {}", String::from_utf8_lossy(&reply.body)));
            }
        }
        self.again += u64::from(again);
        self.new += u64::from(added.as_ref().is_ok_and(|added| added.new));
        right
    }

    fn add(&mut self, other: Seen) {
        self.micros.extend(other.micros);
        if self.statuses.len() < other.statuses.len() {
            self.statuses.resize(other.statuses.len(), 0);
        }
        self.statuses.iter_mut().zip(&other.statuses).for_each(|(all, one)| *all += one);
        self.new += other.new;
        self.again += other.again;
        self.reconnected += other.reconnected;
        self.mistakes += other.mistakes;
    }

    fn status(&self, range: std::ops::Range<usize>) -> u64 {
        self.statuses
            .iter()
            .enumerate()
            .filter(|(status, _)| range.contains(status))
            .map(|(_, count)| count)
            .sum()
    }

    fn print(&mut self, args: &BenchServeArgs, seconds: f64) -> Result<(), Failure> {
        self.micros.sort_unstable();
        let quantile = |share: f64| {
            let place = (self.micros.len() as f64 * share).ceil() as usize;
            self.micros.get(place.max(1) - 1).map_or(0.0, |&micros| f64::from(micros) / 1000.0)
        };
        let acknowledged = self.status(200..201);
        let told = Told {
            clients: args.clients.get(),
            seconds,
            requests: self.micros.len() as u64,
            acknowledged,
            new: self.new,
            sent_again: self.again,
            refused: self.status(400..500),
            failed: self.status(500..600),
            reconnected: self.reconnected,
            mistakes: self.mistakes,
            per_second: acknowledged as f64 / seconds,
            p50_ms: quantile(0.5),
            p90_ms: quantile(0.9),
            p99_ms: quantile(0.99),
            max_ms: quantile(1.0),
        };
        let mut out = std::io::stdout().lock();
        if args.json {
            let line = serde_json::to_string(&told).expect("numbers can be written");
            return Ok(writeln!(out, "{line}")?);
        }
        for (name, number) in [
            ("requests", told.requests),
            ("acknowledged", told.acknowledged),
            ("new", told.new),
            ("sent again", told.sent_again),
            ("refused", told.refused),
            ("failed", told.failed),
            ("reconnected", told.reconnected),
            ("wrong answers", told.mistakes),
        ] {
            writeln!(out, "{name:<18}{:>14}", thousands(number))?;
        }
        writeln!(out, "{:<18}{:>14.0}", "per second", told.per_second)?;
        for (name, value) in
            [("p50", told.p50_ms), ("p90", told.p90_ms), ("p99", told.p99_ms), ("slowest", told.max_ms)]
        {
            writeln!(out, "{name:<18}{value:>14.2} ms")?;
        }
        Ok(())
    }
}

/// Asks for every document of a list.
fn check(args: &BenchServeArgs, list: &std::path::Path, watch: &Watch) -> Result<Outcome, Failure> {
    let failed = |error| Failure::Missing(format!("{} cannot be read: {error}", list.display()));
    let ids = std::fs::read_to_string(list).map_err(failed)?;
    let token = token(args)?;
    let mut client = Client::new(&args.address, token.as_deref(), args.patience);
    let (mut there, mut missing) = (0u64, 0u64);
    for id in ids.lines() {
        if watch.stopped() {
            break;
        }
        let reply = client.send("GET", &format!("/v1/documents/{id}"), None)?;
        if reply.status == 200 {
            there += 1;
        } else {
            missing += 1;
            if missing <= TOLD {
                tell(format_args!("{id} was acknowledged and is not there (status {})", reply.status));
            }
        }
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{:<18}{:>14}", "there", thousands(there))?;
    writeln!(out, "{:<18}{:>14}", "missing", thousands(missing))?;
    if missing > 0 {
        return Err(Failure::Missing(format!("{missing} documents that were acknowledged are not there")));
    }
    Ok(Outcome::Done)
}
