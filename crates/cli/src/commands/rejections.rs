//! Reports of rejected records: the first few on standard error, all of them in a file on request.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use lookalike::corpus::write::{Sink, Temporary};
use lookalike::corpus::{Compression, CorpusError, Losses, MaxRejected};
use lookalike::model::{Rejection, Unit};
use lookalike::tables::stats_rejected::StatsRejectedRow;

use crate::console::print_message;
use crate::exit::Outcome;
use crate::progress::thousands;

/// The most rejections that are reported one by one.
const MAX_REPORTED: u64 = 10;

/// The rejections of one shard, until those of the shards before it have been reported. All but the first few wait
/// on disk.
pub(crate) struct ShardRejections {
    first: Vec<String>,
    losses: Losses,
    lines: Option<(BufWriter<File>, Temporary)>,
    to_file: bool,
}

impl ShardRejections {
    /// `to_file` says whether there will be a file for them.
    pub(crate) fn new(to_file: bool) -> Self {
        ShardRejections { first: Vec::new(), losses: Losses::default(), lines: None, to_file }
    }

    /// Takes one rejection in shard `source`.
    pub(crate) fn add(&mut self, source: &str, rejection: &Rejection) -> Result<(), CorpusError> {
        self.losses.reject(source, rejection);
        if self.losses.rejected <= MAX_REPORTED {
            self.first.push(sentence(source, rejection));
        }
        if self.to_file {
            self.spool(source, rejection).map_err(writing(Path::new("a temporary file for rejections")))?;
        }
        Ok(())
    }

    fn spool(&mut self, source: &str, rejection: &Rejection) -> io::Result<()> {
        let lines = match self.lines.take() {
            Some(lines) => lines,
            None => {
                let (file, temporary) = Temporary::scratch()?;
                (BufWriter::new(file), temporary)
            }
        };
        write_line(&mut self.lines.insert(lines).0, source, rejection)
    }

    /// Closes the file, so that thousands of shards do not hold thousands of them open.
    pub(crate) fn close(self) -> Result<ClosedRejections, CorpusError> {
        let close = |(mut file, temporary): (BufWriter<File>, Temporary)| file.flush().map(|()| temporary);
        let lines = self.lines.map(close).transpose();
        let lines = lines.map_err(writing(Path::new("a temporary file for rejections")))?;
        Ok(ClosedRejections { first: self.first, losses: self.losses, lines })
    }
}

/// [`ShardRejections`] of a shard that was read to its end, ready to be reported.
pub(crate) struct ClosedRejections {
    first: Vec<String>,
    losses: Losses,
    lines: Option<Temporary>,
}

/// Reports rejections in the order of the input.
pub(crate) struct Rejections {
    losses: Losses,
    file: Option<Sink>,
    name: String,
}

impl Rejections {
    /// Writes them to `file` as well, if one is given; it appears when all are reported.
    pub(crate) fn new(file: Option<&Path>) -> Result<Self, CorpusError> {
        let name = file.map_or(String::new(), |path| path.display().to_string());
        let file = file.map(|path| Sink::create(path, Compression::named(path))).transpose()?;
        Ok(Rejections { losses: Losses::default(), file, name })
    }

    /// Reports one rejection in shard `source`.
    pub(crate) fn report(&mut self, source: &str, rejection: &Rejection) -> Result<(), CorpusError> {
        self.losses.reject(source, rejection);
        if self.losses.rejected <= MAX_REPORTED {
            print_message(sentence(source, rejection));
        }
        if let Some(file) = &mut self.file {
            write_line(file, source, rejection).map_err(writing(Path::new(&self.name)))?;
        }
        Ok(())
    }

    /// Reports all rejections of a shard.
    pub(crate) fn report_all(&mut self, closed: &ClosedRejections) -> Result<(), CorpusError> {
        for sentence in closed.first.iter().take(MAX_REPORTED.saturating_sub(self.losses.rejected) as usize) {
            print_message(sentence);
        }
        self.losses.merge(closed.losses.clone());
        if let (Some(file), Some(lines)) = (&mut self.file, &closed.lines) {
            let copied = File::open(lines.path()).and_then(|mut lines| io::copy(&mut lines, file));
            copied.map_err(writing(Path::new(&self.name)))?;
        }
        Ok(())
    }

    /// The number of rejected records so far.
    pub(crate) fn count(&self) -> u64 {
        self.losses.rejected
    }

    /// Fails when more records were rejected than may be, beside this number of documents.
    pub(crate) fn check(&self, documents: u64, most: MaxRejected) -> Result<(), CorpusError> {
        let mut losses = self.losses.clone();
        losses.records += documents;
        losses.check("the input", most)
    }

    /// Ends the report; `strict` makes rejections the outcome.
    pub(crate) fn finish(self, strict: bool) -> Result<Outcome, CorpusError> {
        let count = self.losses.rejected;
        if count > MAX_REPORTED {
            let hint =
                if self.file.is_some() { "" } else { " (corpus stats --rejected FILE writes them all)" };
            print_message(format_args!("rejected: {} more{hint}", thousands(count - MAX_REPORTED)));
        }
        if let Some(file) = self.file {
            file.finish()?;
        }
        Ok(if strict && count > 0 { Outcome::Rejected } else { Outcome::Done })
    }
}

fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Byte => "byte",
        Unit::Row => "row",
    }
}

fn sentence(source: &str, rejection: &Rejection) -> String {
    let unit = unit_name(rejection.unit);
    format!("rejected: {source}, {unit} {}: {}", rejection.place.position, rejection.reason)
}

fn write_line(out: &mut impl Write, source: &str, rejection: &Rejection) -> io::Result<()> {
    let reason = rejection.reason.to_string();
    let row = StatsRejectedRow {
        source,
        position: rejection.place.position,
        unit: unit_name(rejection.unit),
        reason: &reason,
        id: rejection.id.as_deref(),
    };
    let mut line = Vec::new();
    row.push_line(&mut line);
    out.write_all(&line)
}

fn writing(path: &Path) -> impl FnOnce(io::Error) -> CorpusError + '_ {
    move |source| CorpusError::Write { name: path.display().to_string(), source }
}
