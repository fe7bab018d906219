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
use crate::console::{is_quiet, print_counts, print_message, write_rows};
use crate::exit::{Failure, Outcome};
use crate::progress::thousands;

/// Documents of the generated corpus that is sent.
const DOCUMENTS: u64 = 1_000_000;
/// One request in this number sends a document again.
const REPEAT_EVERY: u64 = 10;
/// The most mistakes that are reported one by one.
const MAX_REPORTED: u64 = 10;

pub(crate) fn run(command: &BenchCommand, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let BenchCommand::Serve(args) = command;
    match &args.check {
        Some(list) => check(args, list, watch),
        None => load(args, watch),
    }
}

/// The state that all clients share.
struct LoadTest<'l> {
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
struct ClientStats {
    /// Microseconds that each request took.
    micros: Vec<u32>,
    statuses: Vec<u64>,
    new: u64,
    again: u64,
    reconnected: u64,
    mistakes: u64,
}

/// The answer of the service to an added document.
#[derive(Debug, Deserialize)]
struct AddReply {
    id: String,
    new: bool,
}

/// The figures that are printed.
#[derive(Debug, Default, Serialize)]
struct LoadReport {
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
struct SentDocument {
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
    let load = LoadTest {
        args,
        token: token(args)?,
        watch,
        begun: Instant::now(),
        next: AtomicU64::new(0),
        acknowledged,
    };
    let clients = args.clients.get();
    let stats: Vec<Result<ClientStats, Failure>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients).map(|_| scope.spawn(|| load.client())).collect();
        let lost = || Err(Failure::Missing("a client failed".to_owned()));
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| lost())).collect()
    });
    let seconds = load.begun.elapsed().as_secs_f64();
    let mut all = ClientStats::default();
    for stats in stats {
        all.add(stats?);
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

impl LoadTest<'_> {
    fn is_over(&self, number: u64) -> bool {
        self.watch.stopped()
            || self.args.requests.is_some_and(|most| number >= most)
            || self.begun.elapsed() >= Duration::from_secs(self.args.seconds)
    }

    fn client(&self) -> Result<ClientStats, Failure> {
        let mut client = Client::new(&self.args.address, self.token.as_deref(), self.args.patience);
        let mut documents = Plan { documents: DOCUMENTS, seed: self.args.seed }.documents();
        let (mut stats, mut detector) = (ClientStats::default(), WordDetector::default());
        // A document that this client knows to be there.
        let mut known: Option<SentDocument> = None;
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if self.is_over(number) {
                return Ok(stats);
            }
            let id = format!("bench-{}-{number}", self.args.seed);
            let again = known.clone().filter(|_| number.is_multiple_of(REPEAT_EVERY));
            let sent = match &again {
                Some(sent) => SentDocument { id: id.clone(), ..sent.clone() },
                None => generated_document(&mut documents, number, &id),
            };
            let body = serde_json::to_vec(&sent).expect("text can be written");
            let begun = Instant::now();
            let reply = client.send("POST", "/v1/documents", Some(&body))?;
            stats.micros.push(begun.elapsed().as_micros().min(u128::from(u32::MAX)) as u32);
            stats.reconnected = client.reconnected;
            if stats.record(&reply, &id, again.is_some()) {
                self.acknowledge(&id)?;
                // What has no words is never a near-duplicate.
                known = Some(sent).filter(|sent| detector.has_words(sent)).or(known);
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

/// Detects whether a document has words.
struct WordDetector {
    extractor: Extractor,
    analyser: Analyser,
    features: Features,
}

impl Default for WordDetector {
    fn default() -> Self {
        let analyser = Analyser::new(&Profile::web());
        WordDetector { extractor: Extractor::default(), analyser, features: Features::default() }
    }
}

impl WordDetector {
    fn has_words(&mut self, sent: &SentDocument) -> bool {
        let (media, content) = match (&sent.text, &sent.html) {
            (Some(text), _) => (Media::Text, text),
            (None, html) => (Media::Html, html.as_ref().unwrap_or(&sent.id)),
        };
        let document = Document::from_text(&sent.id, None, media, content);
        let text = self.extractor.extract(&document, ContentMode::Page).text;
        self.analyser.read(text, &mut self.features);
        !self.features.is_empty()
    }
}

/// A generated document under another id.
fn generated_document(documents: &mut Documents, number: u64, id: &str) -> SentDocument {
    let page = documents.get(number % DOCUMENTS).expect("a plan has as many documents as it says");
    let content = Some(page.content.to_owned());
    let (text, html) = if page.media == Media::Html { (None, content) } else { (content, None) };
    SentDocument { id: id.to_owned(), text, html }
}

impl ClientStats {
    /// Counts a reply; true when the document was acknowledged.
    fn record(&mut self, reply: &Reply, id: &str, again: bool) -> bool {
        let status = usize::from(reply.status);
        if self.statuses.len() <= status {
            self.statuses.resize(status + 1, 0);
        }
        self.statuses[status] += 1;
        if reply.status != 200 {
            return false;
        }
        let added: Result<AddReply, _> = serde_json::from_slice(&reply.body);
        let right = match &added {
            Err(_) => false,
            Ok(added) if added.id != id => false,
            Ok(added) if again => !added.new,
            Ok(_) => true,
        };
        if !right {
            self.mistakes += 1;
            if self.mistakes <= MAX_REPORTED {
                print_message(format_args!("wrong answer to {id}: {}", String::from_utf8_lossy(&reply.body)));
            }
        }
        self.again += u64::from(again);
        self.new += u64::from(added.as_ref().is_ok_and(|added| added.new));
        right
    }

    fn add(&mut self, other: ClientStats) {
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
            let rank = (self.micros.len() as f64 * share).ceil() as usize;
            self.micros.get(rank.max(1) - 1).map_or(0.0, |&micros| f64::from(micros) / 1000.0)
        };
        let acknowledged = self.status(200..201);
        let report = LoadReport {
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
            let line = serde_json::to_string(&report).expect("numbers can be written");
            return Ok(writeln!(out, "{line}")?);
        }
        if is_quiet() {
            return Ok(());
        }
        for (name, number) in [
            ("requests", report.requests),
            ("acknowledged", report.acknowledged),
            ("new", report.new),
            ("sent again", report.sent_again),
            ("refused", report.refused),
            ("failed", report.failed),
            ("reconnected", report.reconnected),
            ("wrong answers", report.mistakes),
        ] {
            writeln!(out, "{name:<18}{:>14}", thousands(number))?;
        }
        writeln!(out, "{:<18}{:>14.0}", "per second", report.per_second)?;
        for (name, value) in [
            ("p50", report.p50_ms),
            ("p90", report.p90_ms),
            ("p99", report.p99_ms),
            ("slowest", report.max_ms),
        ] {
            writeln!(out, "{name:<18}{value:>14.2} ms")?;
        }
        Ok(())
    }
}

/// Acknowledged documents that are there, and those that are not.
#[derive(Debug, Serialize)]
struct StoredCounts {
    there: u64,
    missing: u64,
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
            if missing <= MAX_REPORTED {
                print_message(format_args!(
                    "{id} was acknowledged and is not there (status {})",
                    reply.status
                ));
            }
        }
    }
    print_counts(args.json, &StoredCounts { there, missing }, |out| {
        write_rows(out, [("there", there), ("missing", missing)])
    })?;
    if missing > 0 {
        return Err(Failure::Missing(format!("{missing} documents that were acknowledged are not there")));
    }
    Ok(Outcome::Done)
}
