//! `lookalike lab henzinger`: MinHash, SimHash and both together, beside the published figures.

use std::io::Write;
use std::sync::Arc;

use lookalike::walk::Watch;
use lookalike_lab::henzinger::{self, Line};
use lookalike_lab::trial::Bench;

use crate::args::{HenzingerArgs, SpoolArg};
use crate::exit::{Failure, Outcome};
use crate::progress::{Progress, Total, thousands};

pub(crate) fn run(args: &HenzingerArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let truth = args.truth();
    if args.input.inputs.iter().any(|input| input == "-") {
        let sentence =
            "the comparison reads the corpus several times, which standard input cannot be; give files";
        return Err(Failure::Usage(sentence.to_owned()));
    }
    super::job::outside(&args.input.inputs, &args.output)?;
    let corpus = args.input.corpus_with(truth.read_options()?)?;
    std::fs::create_dir_all(&args.output).map_err(|error| {
        Failure::Missing(format!("{} cannot be made a folder: {error}", args.output.display()))
    })?;
    let bench = Bench {
        truth,
        corpus: &corpus,
        settings: args.resources.settings(SpoolArg::Auto),
        folder: &args.output,
        seed: args.seed,
    };
    let progress = Progress::show(args.resources.progress, Total::Unknown, watch);
    let lines = henzinger::run(&bench, args.k, watch)?;
    drop(progress);
    let json = serde_json::to_string_pretty(&lines).map_err(std::io::Error::from)? + "\n";
    let path = args.output.join("henzinger.json");
    std::fs::write(&path, &json)
        .map_err(|error| Failure::Missing(format!("{} cannot be written: {error}", path.display())))?;
    let mut out = std::io::stdout().lock();
    if args.json {
        out.write_all(json.as_bytes())?;
    } else {
        print(args, &lines, &mut out)?;
    }
    Ok(Outcome::Done)
}

fn print(args: &HenzingerArgs, lines: &[Line], out: &mut impl Write) -> std::io::Result<()> {
    let documents = lines.first().map_or(0, |line| line.outcome.documents);
    writeln!(
        out,
        "{} documents; a near-duplicate has a similarity of {} or more ({})\n",
        thousands(documents),
        args.threshold,
        args.similarity
    )?;
    writeln!(
        out,
        "{:<10}{:>12}{:>17}{:>11}{:>18}{:>11}",
        "method", "pairs", "near-duplicates", "precision", "95 % interval", "published"
    )?;
    for line in lines {
        let share = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{share:.2}"));
        let interval = line.interval.map_or("-".to_owned(), |(low, high)| format!("{low:.3}-{high:.3}"));
        writeln!(
            out,
            "{:<10}{:>12}{:>17}{:>11}{interval:>18}{:>11.2}",
            line.name,
            thousands(line.outcome.pairs),
            thousands(line.outcome.near),
            share(line.precision),
            line.published
        )?;
    }
    writeln!(out, "\npublished: Henzinger 2006, samples of pairs from 1.6 billion pages, judged by people")?;
    writeln!(out, "pairs of equal documents are in the counts")?;
    for line in lines.iter().filter(|line| line.outcome.giant_groups > 0) {
        writeln!(
            out,
            "{}: {} groups of more than {} documents are not in the counts",
            line.name,
            thousands(line.outcome.giant_groups),
            args.max_group
        )?;
    }
    Ok(())
}
